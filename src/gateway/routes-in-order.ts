import type { Route } from '../catalog/catalog.ts';

/**
 * Returns the routes of a model in the order in which this request tries them. Routes without a weight keep their place. Neighbouring
 * routes with weights form a group and are drawn by weight: the first one drawn takes the request, the others are its fallbacks.
 */
export function routesInOrder(routes: readonly Route[], random: () => number = Math.random): readonly Route[] {
  return routes.some(isWeighted) ? drawAll(routes, random) : routes;
}

function isWeighted({ weight }: Route): boolean {
  return weight !== undefined;
}

function drawAll(routes: readonly Route[], random: () => number): Route[] {
  const ordered: Route[] = [];
  let group: Route[] = [];
  for (const route of routes) {
    if (isWeighted(route)) {
      group.push(route);
    } else {
      ordered.push(...shuffle(group, random), route);
      group = [];
    }
  }
  return [...ordered, ...shuffle(group, random)];
}

/** Draws one route after the other by weight, so that fallback traffic is spread by weight too. */
function shuffle(group: readonly Route[], random: () => number): Route[] {
  const remaining = [...group];
  const drawn: Route[] = [];
  while (remaining.length > 0) drawn.push(...remaining.splice(draw(remaining, random), 1));
  return drawn;
}

/** Returns the index of the drawn route. If rounding leaves a remainder beyond the last one, the last one is taken. */
function draw(routes: readonly Route[], random: () => number): number {
  const sum = routes.reduce((total, { weight = 0 }) => total + weight, 0);
  let remainder = random() * sum;
  const index = routes.findIndex(({ weight = 0 }) => (remainder -= weight) < 0);
  return index === -1 ? routes.length - 1 : index;
}
