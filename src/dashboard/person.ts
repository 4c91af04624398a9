/** The person who is signed in. */
export interface Person {
  readonly userId: string;
  readonly accountId: string;
  readonly sessionId: string;
  readonly name: string;
  readonly email: string;
  readonly isEmailVerified: boolean;
  readonly hasTwoFactor: boolean;
  /** Whether the session began with a second factor or a passkey. */
  readonly passedSecondFactor: boolean;
  readonly signedInAtMs: number;
  readonly isOperator: boolean;
  /** The email address of an operator who views this account. They see what the owner sees, except for data that only the owner may see. */
  readonly viewedBy?: string;
}

/** What handlers know about a request besides the request itself. */
export interface Env {
  readonly Bindings: { readonly address: string };
  readonly Variables: { readonly person: Person; readonly requestId: string };
}
