import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';

/** Authenticator flags: the user touched it, the user was verified, and a new key is attached. */
const PRESENT = 0x01;
const VERIFIED = 0x04;
const HAS_KEY = 0x40;

/** An authenticator with one passkey. */
export class Authenticator {
  /** Whether it verifies its holder, by fingerprint or PIN. */
  isVerifying: boolean;
  readonly #origin: URL;
  readonly #id = randomBytes(16);
  readonly #privateKey: KeyObject;
  readonly #publicKey: Buffer;

  constructor(origin: string, isVerifying: boolean) {
    this.#origin = new URL(origin);
    this.isVerifying = isVerifying;
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    this.#privateKey = privateKey;
    const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
    // {1: 2, 3: -7, -1: 1, -2: x, -3: y} in CBOR
    this.#publicKey = Buffer.concat([Buffer.from('a5010203262001', 'hex'), coordinate('21', x), coordinate('22', y)]);
  }

  /** Responds to a registration. */
  create(challenge: string): Record<string, unknown> {
    const length = Buffer.from([0, this.#id.length]);
    const data = Buffer.concat([this.#data(HAS_KEY), Buffer.alloc(16), length, this.#id, this.#publicKey]);
    // {"fmt": "none", "attStmt": {}, "authData": data} in CBOR
    const attestation = Buffer.concat([
      Buffer.from('a363666d74646e6f6e656761747453746d74a068617574684461746158', 'hex'),
      Buffer.from([data.length]),
      data,
    ]);
    return this.#answer({
      clientDataJSON: this.#client('webauthn.create', challenge).toString('base64url'),
      attestationObject: attestation.toString('base64url'),
    });
  }

  /** Responds to a sign-in. */
  get(challenge: string): Record<string, unknown> {
    const [data, client] = [this.#data(0), this.#client('webauthn.get', challenge)];
    const signed = Buffer.concat([data, createHash('sha256').update(client).digest()]);
    return this.#answer({
      clientDataJSON: client.toString('base64url'),
      authenticatorData: data.toString('base64url'),
      signature: sign('sha256', signed, this.#privateKey).toString('base64url'),
    });
  }

  #answer(response: Record<string, string>): Record<string, unknown> {
    const id = this.#id.toString('base64url');
    return { id, rawId: id, type: 'public-key', clientExtensionResults: {}, response };
  }

  #client(type: string, challenge: string): Buffer {
    return Buffer.from(JSON.stringify({ type, challenge, origin: this.#origin.origin }));
  }

  #data(more: number): Buffer {
    const flags = PRESENT | (this.isVerifying ? VERIFIED : 0) | more;
    return Buffer.concat([createHash('sha256').update(this.#origin.hostname).digest(), Buffer.from([flags, 0, 0, 0, 0])]);
  }
}

function coordinate(name: string, base64url: string): Buffer {
  return Buffer.concat([Buffer.from(`${name}5820`, 'hex'), Buffer.from(base64url, 'base64url')]);
}
