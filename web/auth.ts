import { passkeyClient } from '@better-auth/passkey/client';
import { adminClient, twoFactorClient } from 'better-auth/client/plugins';
import { createAuthClient } from 'better-auth/react';

/** Registration, sign-in, sessions, two factors and passkeys, at `/api/auth`. */
export const auth = createAuthClient({
  baseURL: location.origin,
  basePath: '/api/auth',
  plugins: [twoFactorClient(), passkeyClient(), adminClient()],
});
