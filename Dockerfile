# docker build -t tollgate .
# docker run -p 127.0.0.1:8787:8787 -v tollgate:/data tollgate
# docs/operations.md has what else a container needs.

FROM node:24-slim AS build
WORKDIR /tollgate
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev
COPY . .
RUN npm run build

FROM debian:12-slim
RUN useradd --system --home-dir /data tollgate && install -d -o tollgate -m 700 /data
COPY --from=build /tollgate/dist/tollgate /usr/local/bin/tollgate
USER tollgate
WORKDIR /data
ENV HOST=0.0.0.0 TOLLGATE_DATA=/data
VOLUME /data
EXPOSE 8787
CMD ["tollgate", "serve"]
