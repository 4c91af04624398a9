/** `npm run bundle`, which `npm start` runs first: bundles the server and the dashboard into dist/. Takes seconds at first, and about one when little has changed. */
import { buildServer } from './build-server.ts';
import { buildWeb } from './build-web.ts';

const results = await Promise.all([buildServer(), buildWeb()]);
process.exit(results.every(Boolean) ? 0 : 1);
