import type { BetterAuthOptions } from 'better-auth';
import { genericOAuth } from 'better-auth/plugins';
import type { SignInProvider } from '../../accounts/sign-in-settings.ts';

type Linking = NonNullable<NonNullable<BetterAuthOptions['account']>['accountLinking']>;

/** The providers whose addresses the library knows. */
export function knownProviders(providers: readonly SignInProvider[]): NonNullable<BetterAuthOptions['socialProviders']> {
  const of = (id: SignInProvider['id']): { clientId: string; clientSecret: string } | undefined => {
    const found = providers.find((provider) => provider.id === id);
    return found === undefined ? undefined : { clientId: found.clientId, clientSecret: found.clientSecret };
  };
  const [github, google] = [of('github'), of('google')];
  return { ...(github !== undefined && { github }), ...(google !== undefined && { google }) };
}

/**
 * Whose word the library takes. It takes everybody's here, and asks `admission.ts` before it makes or links anything:
 * there the rules stand together, and their refusals tell nobody who has an account.
 */
export function linkingRules(providers: readonly SignInProvider[]): Linking {
  if (providers.length === 0) return { enabled: false };
  return { enabled: true, trustedProviders: providers.map(({ id }) => id), requireLocalEmailVerified: false, allowDifferentEmails: true };
}

/** Where OpenID Connect has providers tell their addresses and keys. */
const DISCOVERY_PATH = '/.well-known/openid-configuration';

/** The operator's own identity provider. What it says is signed, and checked. */
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
        // With the issuer in it: another provider may give the same number to somebody else.
        accountSubject: ({ profile }) => (profile.sub === undefined || profile.sub === null ? '' : `${issuer}#${profile.sub}`),
        // Some providers write `true` as a text.
        mapProfileToUser: ({ email_verified }) => ({ emailVerified: email_verified === true || email_verified === 'true' }),
      },
    ],
  });
}
