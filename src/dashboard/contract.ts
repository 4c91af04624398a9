/** What the browser's side may know of the server's: types, nothing that runs. */
export type { Api } from './api.ts';
