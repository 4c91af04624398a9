import { createHash } from 'node:crypto';
import type { BetterAuthPlugin } from 'better-auth';

/** The database as the library sees it, without and with transactions. */
type WholeStore = Parameters<NonNullable<BetterAuthPlugin['init']>>[0]['adapter'];
type Store = Omit<WholeStore, 'transaction'>;

interface Order {
  readonly model: string;
  readonly where?: readonly { readonly field: string; readonly value: unknown }[] | undefined;
}

/** Stores only the hashes of session tokens, so that neither the database nor a backup gives access. The library has no option for it. */
export const hashedTokens = {
  id: 'tollgate-session-tokens',
  init: ({ adapter }) => ({
    context: {
      adapter: { ...hashing(adapter), transaction: (work) => adapter.transaction((inner) => work(hashing(inner))) } satisfies WholeStore,
    },
  }),
} satisfies BetterAuthPlugin;

function hashing(store: Store): Store {
  return {
    ...store,
    create: async (order) => {
      const { token } = order.data as { readonly token?: unknown };
      if (order.model !== 'session' || typeof token !== 'string') return store.create(order);
      return { ...(await store.create({ ...order, data: { ...order.data, token: hashOf(token) } })), token };
    },
    findOne: async (order) => restore(order, await store.findOne(hashed(order))),
    findMany: async (order) => (await store.findMany<never>(hashed(order))).map((row) => restore(order, row)),
    update: async (order) => restore(order, await store.update(hashed(order))),
    updateMany: (order) => store.updateMany(hashed(order)),
    delete: (order) => store.delete(hashed(order)),
    deleteMany: (order) => store.deleteMany(hashed(order)),
  };
}

/** Hashes the tokens that an order asks for. */
function hashed<One extends Order>(order: One): One {
  if (order.model !== 'session' || order.where === undefined) return order;
  const where = order.where.map((each) => {
    if (each.field !== 'token') return each;
    return { ...each, value: Array.isArray(each.value) ? each.value.map((token) => hashOf(String(token))) : hashOf(String(each.value)) };
  });
  return { ...order, where };
}

/** Puts the token that was asked for back into its row, since the library sets cookies from rows. */
function restore<Row>(order: Order, row: Row): Row {
  if (order.model !== 'session' || row === null) return row;
  const asked = (order.where ?? []).flatMap(({ field, value }) => (field === 'token' ? value : []));
  const token = asked.find((each) => hashOf(String(each)) === (row as { readonly token?: unknown }).token);
  return token === undefined ? row : { ...row, token };
}

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}
