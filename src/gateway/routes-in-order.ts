import type { Route } from '../catalog/catalog.ts';

/**
 * The routes of a model in the order in which this request tries them. Routes without a weight stay where they stand;
 * neighbours with one are equals, and are drawn by their weights: the first takes the request, the others stand in for it.
 */
export function routesInOrder(routes: readonly Route[], random: () => number = Math.random): readonly Route[] {
  return routes.some(isWeighted) ? drawAll(routes, random) : routes;
}

function isWeighted({ weight }: Route): boolean {
  return weight !== undefined;
}

function drawAll(routes: readonly Route[], random: () => number): Route[] {
  const ordered: Route[] = [];
  let equals: Route[] = [];
  for (const route of routes) {
    if (isWeighted(route)) {
      equals.push(route);
    } else {
      ordered.push(...shuffle(equals, random), route);
      equals = [];
    }
  }
  return [...ordered, ...shuffle(equals, random)];
}

/** Draws one after the other by weight, so that what falls on the stand-ins is spread by their weights too. */
function shuffle(equals: readonly Route[], random: () => number): Route[] {
  const left = [...equals];
  const drawn: Route[] = [];
  while (left.length > 0) drawn.push(...left.splice(draw(left, random), 1));
  return drawn;
}

/** The place of the route that is drawn. Rounding may leave a rest beyond the last one, which then is it. */
function draw(routes: readonly Route[], random: () => number): number {
  const sum = routes.reduce((total, { weight = 0 }) => total + weight, 0);
  let rest = random() * sum;
  const place = routes.findIndex(({ weight = 0 }) => (rest -= weight) < 0);
  return place === -1 ? routes.length - 1 : place;
}
