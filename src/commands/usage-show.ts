import type { Kysely } from 'kysely';
import { Accounts } from '../accounts/accounts.ts';
import type { Tables } from '../database/tables.ts';
import { timeOf } from '../ids.ts';
import { asNanos, formatUsd } from '../ledger/money.ts';
import { explainError } from '../usage/error-meanings.ts';
import { readKeyNames } from '../usage/names.ts';
import { describeRequest } from '../usage/request-columns.ts';
import { findRequest, type ChargeTransfer, type FoundRequest, type RequestDetail } from '../usage/request-detail.ts';
import type { RequestRow } from '../usage/requests.ts';
import { formatTime, print, withSession, type JsonOption } from './session.ts';
import { alignColumns, sayCount, sayUsd } from './text.ts';

/** Reads a request id, perhaps copied with quotes or spaces around it. */
export function readRequestId(text: string): string {
  const id = text.trim().replace(/^(["'])(.*)\1$/u, '$2');
  if (/^req_[\da-z]{9}[\da-f]{20}$/u.test(id)) return id;
  throw new Error(`"${text}" is not a request id. One looks like req_0mwl93ncbcad1eab208b5b9f4b870, from the header x-request-id.`);
}

/** `usage show`: tells what became of one request. */
export async function showRequest(id: string, options: JsonOption): Promise<void> {
  await withSession(async ({ database }) => {
    const found = await findRequest(database, id);
    const received = formatTime(timeOf(id)) ?? '';
    if (found === undefined)
      throw new Error(
        `There is no request ${id}, which would be from ${received}. Look for it in the log: a request with an unknown key, or one of many refused in the same second, is only there.`,
      );
    const owner = await readOwner(database, found.row);
    const { heading, shown, lines } = explain(found);
    print({ request_id: id, state: found.state, created_at: received, ...owner.shown, ...shown }, options, [
      `${id}: ${heading}`,
      ...alignColumns([...owner.lines, ['received', received], ...lines].filter(([, value]) => value !== '')),
    ]);
  });
}

/** A part of the result, for programs and for people: labels and values, of which empty ones are not printed. */
interface Part {
  readonly shown: Readonly<Record<string, unknown>>;
  readonly lines: readonly (readonly [label: string, value: string])[];
}

async function readOwner(database: Kysely<Tables>, row: FoundRequest['row']): Promise<Part> {
  const id = row.account_id;
  const { email } = (await new Accounts(database).findById(id)) ?? { email: 'unknown' };
  const shown = { account_id: id, account_email: email };
  const account = ['account', `${email} (${id})`] as const;
  if (!('key_id' in row)) return { shown, lines: [account] };
  const names = await readKeyNames(database, id);
  const key = names.find((each) => each.id === row.key_id) ?? { id: row.key_id, name: 'unknown', hint: '', isDeleted: true };
  return {
    shown: { ...shown, key_id: key.id, key_name: key.name, key_shown: key.hint, key_deleted: key.isDeleted },
    lines: [account, ['key', `${key.name}${key.isDeleted ? ', deleted' : ''}  ${key.hint} (${key.id})`]],
  };
}

function explain(found: FoundRequest): Part & { readonly heading: string } {
  switch (found.state) {
    case 'running': {
      const { amount, progress, model, provider, node_id: process } = found.row;
      const shown = { model, provider, held_usd: formatUsd(asNanos(amount)), cost_usd: formatUsd(asNanos(progress)), process };
      const cost = `${sayUsd(progress)} so far, recorded once a second`;
      const lines = [
        ['model', model],
        ['provider', provider],
        ['held', sayUsd(amount)],
        ['cost', cost],
        ['process', process],
      ] as const;
      return { heading: 'running; its money is held', shown, lines };
    }
    case 'settled':
      return explainSettled(found.detail);
    case 'refused': {
      const { status, error_code, param, message, model, is_streaming, others } = found.row;
      const same = others === 0n ? '' : `${sayCount(others, 'more request')} in the same second`;
      return {
        heading: 'refused before a provider was called; nothing was charged',
        shown: { model, status: Number(status), error_code, param, message, is_streaming: is_streaming === 1n, others: Number(others) },
        lines: [
          ['model', model ?? ''],
          ['error', `${error_code} (status ${status}): ${message}`],
          ['field', param ?? ''],
          ['alike', same],
        ],
      };
    }
    case 'deleted':
      return { heading: 'charged; its details have been deleted, as retention.usage_days says', ...explainCharge(found.transfer) };
  }
}

const OUTCOMES: Readonly<Record<string, string>> = {
  client_gone: ': the caller left before the end',
  recovered: ': its process died, and it was charged for what it had delivered',
};

/** For programs it has the columns of `usage export`. */
function explainSettled({ row, attempts, transfer }: RequestDetail): ReturnType<typeof explain> {
  const { plan_cost: plan, promo_cost: promo, error_code: code } = row;
  const called = attempts.map(({ provider, outcome, durationMs }) => ({ provider, outcome, duration_ms: durationMs }));
  const { status, meaning } = explainError(code ?? '');
  const charge = explainCharge(transfer);
  const lines = [
    ['model', row.model],
    ['provider', `${row.provider}${row.served_model === '' ? '' : ` (${row.served_model})`}`],
    ['end user', row.end_user ?? ''],
    ['error', code === null ? '' : `${code} (status ${status ?? 'unknown'}): ${meaning}`],
    ['first token', row.first_token_ms === null ? '' : `after ${row.first_token_ms} ms`],
    ['duration', `${row.duration_ms} ms, ${row.is_streaming === 1n ? 'streamed' : 'not streamed'}`],
    ['finished', row.finish_reason ?? ''],
    ['tokens', sayTokens(row)],
    ['held', sayUsd(row.held)],
    ['cost', `${sayUsd(row.cost)}${plan ? `, ${sayUsd(plan)} from the plan` : ''}${promo ? `, ${sayUsd(promo)} from promotions` : ''}`],
    ...called.map(
      ({ provider, outcome, duration_ms: ms }, n) => [n === 0 ? 'called' : '', `${provider}: ${outcome} after ${ms} ms`] as const,
    ),
    ...charge.lines,
  ] as const;
  const credit = { plan_usd: formatUsd(asNanos(plan ?? 0n)), promo_usd: formatUsd(asNanos(promo ?? 0n)) };
  return {
    heading: `${row.outcome}${OUTCOMES[row.outcome] ?? ''}`,
    shown: { ...describeRequest(row), ...credit, error_meaning: code === null ? null : meaning, called, ...charge.shown },
    lines,
  };
}

function sayTokens(row: RequestRow): string {
  const parts = [
    `${row.input_tokens} input`,
    ...(row.cached_input_tokens > 0n ? [`${row.cached_input_tokens} cached input`] : []),
    ...(row.cache_write_tokens > 0n ? [`${row.cache_write_tokens} written to the cache`] : []),
    `${row.output_tokens} output${row.reasoning_tokens > 0n ? ` (${row.reasoning_tokens} reasoning)` : ''}`,
  ];
  return `${parts.join(', ')}${row.is_estimated === 1n ? '; counted here, because the provider did not' : ''}`;
}

function explainCharge(transfer: ChargeTransfer | undefined): Part {
  if (transfer === undefined) return { shown: { ledger: [] }, lines: [['ledger', 'no transfer, because nothing was charged']] };
  const { id, amount, atMs, balanceAfter } = transfer;
  const entry = { id, at: formatTime(atMs), kind: 'usage', usd: formatUsd(amount), balance_after: formatUsd(balanceAfter) };
  const said = `${entry.at}  ${sayUsd(amount)} from the wallet to revenue; balance then ${sayUsd(balanceAfter)}`;
  return { shown: { ledger: [entry] }, lines: [['ledger', said]] };
}
