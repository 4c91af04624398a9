import { defineRequestState } from '@better-auth/core/context';
import type { BetterAuthOptions } from 'better-auth';
import { getOAuthState, getSessionFromCtx } from 'better-auth/api';
import type { Kysely } from 'kysely';
import { Invitations } from '../../accounts/invitations.ts';
import type { Tables } from '../../database/tables.ts';
import { networkOf } from '../../http/address-range.ts';
import { TooManyError } from '../api-error.ts';
import { ADDRESS_HEADER } from './options.ts';
import { emailSchema, SIGN_UP } from './requests.ts';
import type { DashboardSettings } from '../messages.ts';
import type { RateLimits } from '../rate-limits.ts';

type Validate = NonNullable<NonNullable<BetterAuthOptions['user']>['validateUserInfo']>;
type Identity = Parameters<Validate>[0];
type Context = Parameters<Validate>[1];

/** Why a sign-in through a provider is refused. The sign-in page has a message for each reason. */
export type Refusal =
  | 'address_not_verified'
  | 'own_address_not_verified'
  | 'email_not_found'
  | 'sign_up_closed'
  | 'invitation_needed'
  | 'invitation_other_address'
  | 'session_over'
  | 'too_many';

/** The outcome of a return from a provider, for later steps of the same request. */
interface Arrival {
  readonly kind: 'new' | 'linked';
  /** The invitation that the sign-up used. */
  readonly invitation?: string;
}

/** Request-scoped storage for the arrival. */
export const arrival = defineRequestState<Arrival | undefined>(() => undefined);

/** What the admission decision depends on. */
export interface AdmissionRules {
  readonly settings: Pick<DashboardSettings, 'signUp'>;
  readonly kysely: Kysely<Tables>;
  readonly limits: RateLimits;
}

/**
 * Decides whether to accept an identity from a provider. An address that the provider has not verified is refused, whether or
 * not it has an account here, so the refusal does not reveal which. People who are signed in may link any identity.
 */
export function admitIdentities(rules: AdmissionRules): Validate {
  return async (identity, context) => {
    if (identity.source.method !== 'oauth') return undefined;
    const error = await refusalOf(rules, identity, context);
    return error === undefined ? undefined : { error };
  };
}

async function refusalOf(rules: AdmissionRules, { user, source }: Identity, context: Context): Promise<Refusal | undefined> {
  if (source.action === 'sign-in') return undefined;
  const state = await getOAuthState();
  if (state?.link !== undefined) return admitLink(context, state.link.userId);
  if (user.emailVerified !== true) return 'address_not_verified';
  if (source.action === 'create-user')
    return admitNew(rules, { email: user.email, provider: source.oauth?.providerId, invitation: state?.['invitation'], context });
  if (!(await hasVerifiedAddress(rules.kysely, user.id))) return 'own_address_not_verified';
  await arrival.set({ kind: 'linked' });
  return undefined;
}

/** Refuses the link if the person signed out while they were at the provider. */
async function admitLink(context: Context, userId: string): Promise<Refusal | undefined> {
  const session = await getSessionFromCtx(context);
  if (session?.user.id !== userId) return 'session_over';
  await arrival.set({ kind: 'linked' });
  return undefined;
}

/** Whether the person has verified their own address. If not, the account may belong to someone else. */
async function hasVerifiedAddress(kysely: Kysely<Tables>, personId: unknown): Promise<boolean> {
  const row = await kysely.selectFrom('people').select('email_verified').where('id', '=', String(personId)).executeTakeFirst();
  return Boolean(row?.email_verified);
}

interface NewPerson {
  readonly email: string | undefined;
  readonly provider: string | undefined;
  readonly invitation: unknown;
  readonly context: Context;
}

/** Applies the same sign-up rules as for passwords. Uses up the invitation, if one is needed. */
async function admitNew(rules: AdmissionRules, { email, provider, invitation, context }: NewPerson): Promise<Refusal | undefined> {
  const { settings, kysely, limits } = rules;
  const address = emailSchema.safeParse(email).data;
  if (address === undefined) return 'email_not_found';
  if (settings.signUp === 'closed') return 'sign_up_closed';
  // Identities from the operator's own provider cannot be made up, so they are not rate-limited.
  if (provider !== 'oidc' && !(await isAdmitted(limits, networkOf(context.headers?.get(ADDRESS_HEADER) ?? '')))) return 'too_many';
  await arrival.set({ kind: 'new' });
  if (settings.signUp === 'open') return undefined;
  const invitations = new Invitations(kysely);
  const token = typeof invitation === 'string' ? invitation : '';
  const found = await invitations.find(token);
  if (found?.kind !== 'person' || found.state !== 'open') return 'invitation_needed';
  if (found.email !== undefined && found.email !== address) return 'invitation_other_address';
  if (!(await invitations.use(token))) return 'invitation_needed';
  await arrival.set({ kind: 'new', invitation: token });
  return undefined;
}

async function isAdmitted(limits: RateLimits, network: string): Promise<boolean> {
  try {
    await limits.admit([[SIGN_UP, network]]);
    return true;
  } catch (error) {
    if (error instanceof TooManyError) return false;
    throw error;
  }
}
