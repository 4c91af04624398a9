import type { BetterAuthOptions } from 'better-auth';
import { genericOAuth } from 'better-auth/plugins';
import type { SignInProvider } from '../../accounts/sign-in-settings.ts';

type Linking = NonNullable<NonNullable<BetterAuthOptions['account']>['accountLinking']>;

/** Returns the configured providers that the library supports itself. */
export function knownProviders(providers: readonly SignInProvider[]): NonNullable<BetterAuthOptions['socialProviders']> {
  const of = (id: SignInProvider['id']): { clientId: string; clientSecret: string } | undefined => {
    const found = providers.find((provider) => provider.id === id);
    return found === undefined ? undefined : { clientId: found.clientId, clientSecret: found.clientSecret };
  };
  const [github, google] = [of('github'), of('google')];
  return { ...(github !== undefined && { github }), ...(google !== undefined && { google }) };
}

/**
 * Returns the library's linking rules, which trust every provider. The real rules are all in `admission.ts`, which the library
 * calls before it creates or links anything. Its refusals do not reveal who has an account.
 */
export function linkingRules(providers: readonly SignInProvider[]): Linking {
  if (providers.length === 0) return { enabled: false };
  return { enabled: true, trustedProviders: providers.map(({ id }) => id), requireLocalEmailVerified: false, allowDifferentEmails: true };
}

/** The path of the OpenID Connect discovery document. */
const DISCOVERY_PATH = '/.well-known/openid-configuration';

/** Configures the operator's own identity provider. Its id tokens are signed, and the signature is verified. */
export function ownProvider({ name, issuer = '', clientId, clientSecret }: SignInProvider): ReturnType<typeof genericOAuth> {
  return genericOAuth({
    config: [
      {
        providerId: 'oidc',
        name,
        discoveryUrl: `${issuer}${DISCOVERY_PATH}`,
        requireIdTokenVerification: true,
        clientId,
        clientSecret,
        scopes: ['openid', 'email', 'profile'],
        accountSubject: ({ tokens, profile }) => {
          const subject = subjectOf(tokens.idToken);
          // The profile may come from the user-info endpoint. It counts only if it is about the person of the id token.
          if (subject === undefined || subject !== profile.sub) return '';
          // Includes the issuer, because another provider may use the same subject for someone else.
          return `${issuer}#${subject}`;
        },
        mapProfileToUser: ({ email, email_verified }) => ({
          // Some providers send `true` as a string. Lower case, which the library uses, makes another address of some special letters.
          emailVerified: (email_verified === true || email_verified === 'true') && !/[^\p{ASCII}]/u.test(String(email)),
        }),
      },
    ],
  });
}

/** Returns whom a verified id token is about; undefined without one, since the library accepts that. */
function subjectOf(idToken: string | undefined): string | undefined {
  const payload = idToken?.split('.')[1];
  if (payload === undefined) return undefined;
  const { sub } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { readonly sub?: unknown };
  return typeof sub === 'string' && sub !== '' ? sub : undefined;
}
