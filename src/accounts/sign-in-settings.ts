import { z } from 'zod';

/** Ids of sign-in providers: two public ones, and the operator's own. */
export const PROVIDER_IDS = ['github', 'google', 'oidc'] as const;
/** One of `PROVIDER_IDS`. */
export type ProviderId = (typeof PROVIDER_IDS)[number];

/** An external identity provider that people may sign in with. */
export interface SignInProvider {
  readonly id: ProviderId;
  /** Label of its button. */
  readonly name: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Address of the operator's own identity provider; undefined for GitHub and Google. */
  readonly issuer: string | undefined;
}

const NAME_CHARACTERS_MAX = 40;
const credential = z.string().trim().min(1).max(1000);
const issuer = z
  .url({ protocol: /^https?$/, error: 'must be an address such as https://id.example.com' })
  .refine(isSafe, 'must begin with https://, or be an address of this machine')
  .refine((text) => !/[?#]/u.test(text), 'must be the address alone, without ? and #');
const name = z.string().trim().min(1).max(NAME_CHARACTERS_MAX);

/** `accounts.sign_in` in `tollgate.yaml`. */
export const signInSchema = z.strictObject({
  github: z.strictObject({ client_id: credential.optional(), client_secret: credential.optional() }).prefault({}),
  google: z.strictObject({ client_id: credential.optional(), client_secret: credential.optional() }).prefault({}),
  oidc: z
    .strictObject({
      name: name.optional(),
      issuer: issuer.optional(),
      client_id: credential.optional(),
      client_secret: credential.optional(),
    })
    .prefault({}),
});

/** The same settings as environment variables. */
export const signInVariables = {
  GITHUB_CLIENT_ID: credential.optional(),
  GITHUB_CLIENT_SECRET: credential.optional(),
  GOOGLE_CLIENT_ID: credential.optional(),
  GOOGLE_CLIENT_SECRET: credential.optional(),
  OIDC_NAME: name.optional(),
  OIDC_ISSUER: issuer.optional(),
  OIDC_CLIENT_ID: credential.optional(),
  OIDC_CLIENT_SECRET: credential.optional(),
} as const;

type File = z.output<typeof signInSchema>;
type Variables = { readonly [Name in keyof typeof signInVariables]?: string | undefined };

/**
 * Returns the configured providers, in the order of their buttons. The file wins over the environment, key by key. An incomplete set-up is
 * a mistake.
 */
export function toSignInProviders(file: File, variables: Variables, mistakes: string[]): SignInProvider[] {
  return PROVIDER_IDS.flatMap((id) => toProvider(id, file, variables, mistakes));
}

const NAMES: Readonly<Record<ProviderId, string>> = { github: 'GitHub', google: 'Google', oidc: 'Single sign-on' };

function toProvider(id: ProviderId, file: File, variables: Variables, mistakes: string[]): SignInProvider[] {
  const isOwn = id === 'oidc';
  const given = isOwn ? (file.oidc.name ?? variables.OIDC_NAME) : undefined;
  const address = isOwn ? (file.oidc.issuer ?? variables.OIDC_ISSUER)?.replace(/\/+$/u, '') : undefined;
  const prefix = id.toUpperCase() as Uppercase<ProviderId>;
  const clientId = file[id].client_id ?? variables[`${prefix}_CLIENT_ID`];
  const clientSecret = file[id].client_secret ?? variables[`${prefix}_CLIENT_SECRET`];
  if ([given, address, clientId, clientSecret].every((value) => value === undefined)) return [];
  if (clientId !== undefined && clientSecret !== undefined && (!isOwn || address !== undefined))
    return [{ id, name: given ?? NAMES[id], clientId, clientSecret, issuer: address }];
  const parts = { issuer: isOwn ? address : '', client_id: clientId, client_secret: clientSecret };
  const missing = Object.entries(parts).flatMap(([part, value]) => (value === undefined ? [part] : []));
  const names = missing.map((part) => `${id}_${part}`.toUpperCase());
  const [verb, object] = missing.length === 1 ? ['is', 'it'] : ['are', 'them'];
  mistakes.push(
    `accounts.sign_in.${id}: ${missing.join(' and ')} ${verb} missing; set ${object} there, or ${names.join(' and ')} in the environment`,
  );
  return [];
}

/** Requires https or this machine: an identity provider must not be reached over a connection that others can tamper with. */
function isSafe(text: string): boolean {
  const { protocol, hostname } = URL.parse(text) ?? {};
  return protocol === 'https:' || (hostname !== undefined && LOOPBACK.test(hostname));
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/u;
