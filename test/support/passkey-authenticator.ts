/** A software authenticator and its browser. Creates passkeys and signs in with them. */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

export type CborInput =
  | number
  | string
  | boolean
  | Buffer
  | readonly CborInput[]
  | ReadonlyMap<number | string, CborInput>;

/** Faults that a test can inject. */
export interface Deviations {
  readonly type?: string;
  readonly origin?: string;
  /** Overrides the challenge of the options, as base64url. */
  readonly challenge?: string;
  readonly crossOrigin?: boolean;
  readonly topOrigin?: string;
  readonly rpId?: string;
  readonly isUserPresent?: boolean;
  readonly isUserVerified?: boolean;
  readonly isBackedUp?: boolean;
  readonly isBackupEligible?: boolean;
  readonly signCount?: number;
  /** null: the response contains no user handle. */
  readonly userHandle?: Buffer | null;
  /** Appended to the signed data. */
  readonly trailer?: Buffer;
  readonly transports?: readonly string[];
  readonly aaguid?: Buffer;
  readonly credentialId?: Buffer;
  readonly algorithm?: number;
  /** Overrides the authenticator's attestation object. */
  readonly attestationObject?: Buffer;
}

export interface Options {
  readonly challenge: string;
}

interface CreationOptions extends Options {
  readonly user: { readonly id: string };
}

export type KeyKind = 'P-256' | 'Ed25519' | 'RSA';

export class PasskeyAuthenticator {
  readonly #origin: string;
  readonly #rpId: string;
  readonly #keys: { readonly privateKey: KeyObject; readonly publicKey: KeyObject };
  readonly kind: KeyKind;
  credentialId = randomBytes(16);
  userHandle = Buffer.alloc(0);
  /** 0 means that the authenticator has no counter. */
  signCount = 0;

  /** @param publicBase `http.public_base` of the service */
  constructor(publicBase: string, kind: KeyKind = 'P-256') {
    const { origin, hostname } = new URL(publicBase);
    this.#origin = origin;
    this.#rpId = hostname;
    this.kind = kind;
    this.#keys = newKeys(kind);
  }

  /** Returns `RegistrationResponseJSON` for the options. */
  create(options: CreationOptions, wrong: Deviations = {}): object {
    this.userHandle = Buffer.from(options.user.id, 'base64url');
    const authData = Buffer.concat([this.#head(0x40, wrong), this.#attested(wrong), wrong.trailer ?? Buffer.alloc(0)]);
    const statement = new Map<string, CborInput>([
      ['fmt', 'none'],
      ['attStmt', new Map()],
      ['authData', authData],
    ]);
    return this.#credential({
      clientDataJSON: this.#clientData(options, 'webauthn.create', wrong).toString('base64url'),
      attestationObject: (wrong.attestationObject ?? cbor(statement)).toString('base64url'),
      transports: wrong.transports ?? ['internal', 'hybrid'],
    });
  }

  /** Returns `AuthenticationResponseJSON` for the options, as text. */
  get(options: Options, wrong: Deviations = {}): string {
    if (this.signCount > 0) this.signCount += 1;
    const authData = Buffer.concat([this.#head(0, wrong), wrong.trailer ?? Buffer.alloc(0)]);
    const client = this.#clientData(options, 'webauthn.get', wrong);
    const signed = Buffer.concat([authData, createHash('sha256').update(client).digest()]);
    const handle = wrong.userHandle === undefined ? this.userHandle : wrong.userHandle;
    return JSON.stringify(
      this.#credential({
        clientDataJSON: client.toString('base64url'),
        authenticatorData: authData.toString('base64url'),
        signature: sign(this.kind === 'Ed25519' ? null : 'sha256', signed, this.#keys.privateKey).toString('base64url'),
        userHandle: handle?.toString('base64url') ?? null,
      }),
    );
  }

  #credential(response: object): object {
    const id = this.credentialId.toString('base64url');
    return {
      id,
      rawId: id,
      type: 'public-key',
      clientExtensionResults: {},
      authenticatorAttachment: 'platform',
      response,
    };
  }

  #clientData({ challenge }: Options, type: string, wrong: Deviations): Buffer {
    const data = {
      type: wrong.type ?? type,
      challenge: wrong.challenge ?? challenge,
      origin: wrong.origin ?? this.#origin,
      crossOrigin: wrong.crossOrigin ?? false,
      ...(wrong.topOrigin !== undefined && { topOrigin: wrong.topOrigin }),
    };
    return Buffer.from(JSON.stringify(data));
  }

  #head(further: number, wrong: Deviations): Buffer {
    const flags =
      (wrong.isUserPresent === false ? 0 : 0x01) |
      (wrong.isUserVerified === false ? 0 : 0x04) |
      (wrong.isBackupEligible === false ? 0 : 0x08) |
      (wrong.isBackedUp === false ? 0 : 0x10) |
      further;
    const count = Buffer.alloc(4);
    count.writeUInt32BE(wrong.signCount ?? this.signCount);
    const rpIdHash = createHash('sha256')
      .update(wrong.rpId ?? this.#rpId)
      .digest();
    return Buffer.concat([rpIdHash, Buffer.from([flags]), count]);
  }

  #attested(wrong: Deviations): Buffer {
    const id = wrong.credentialId ?? this.credentialId;
    const length = Buffer.alloc(2);
    length.writeUInt16BE(id.length);
    return Buffer.concat([wrong.aaguid ?? Buffer.alloc(16), length, id, cbor(this.#coseKey(wrong.algorithm))]);
  }

  #coseKey(algorithm: number | undefined): ReadonlyMap<number, CborInput> {
    const jwk = this.#keys.publicKey.export({ format: 'jwk' });
    const part = (text = '') => Buffer.from(text, 'base64url');
    switch (this.kind) {
      case 'P-256':
        return new Map<number, CborInput>([
          [1, 2],
          [3, algorithm ?? -7],
          [-1, 1],
          [-2, part(jwk.x)],
          [-3, part(jwk.y)],
        ]);
      case 'Ed25519':
        return new Map<number, CborInput>([
          [1, 1],
          [3, algorithm ?? -8],
          [-1, 6],
          [-2, part(jwk.x)],
        ]);
      case 'RSA':
        return new Map<number, CborInput>([
          [1, 3],
          [3, algorithm ?? -257],
          [-1, part(jwk.n)],
          [-2, part(jwk.e)],
        ]);
    }
  }
}

function newKeys(kind: KeyKind) {
  switch (kind) {
    case 'P-256':
      return generateKeyPairSync('ec', { namedCurve: 'P-256' });
    case 'Ed25519':
      return generateKeyPairSync('ed25519');
    case 'RSA':
      return generateKeyPairSync('rsa', { modulusLength: 2048 });
  }
}

/** Encodes CBOR as authenticators do. */
export function cbor(value: CborInput): Buffer {
  if (typeof value === 'boolean') return Buffer.from([value ? 0xf5 : 0xf4]);
  if (typeof value === 'number') return value < 0 ? cborHead(1, -1 - value) : cborHead(0, value);
  if (typeof value === 'string') return Buffer.concat([cborHead(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (Buffer.isBuffer(value)) return Buffer.concat([cborHead(2, value.length), value]);
  if (value instanceof Map) {
    const parts = [...value].flatMap(([key, member]: [number | string, CborInput]) => [cbor(key), cbor(member)]);
    return Buffer.concat([cborHead(5, value.size), ...parts]);
  }
  const items: readonly CborInput[] = Array.isArray(value) ? value : [];
  return Buffer.concat([cborHead(4, items.length), ...items.map(cbor)]);
}

/** Encodes the major type and argument of an item. */
export function cborHead(major: number, argument: number): Buffer {
  const type = major << 5;
  if (argument < 24) return Buffer.from([type | argument]);
  if (argument < 0x100) return Buffer.from([type | 24, argument]);
  if (argument < 0x10000) return Buffer.from([type | 25, argument >> 8, argument & 0xff]);
  const head = Buffer.alloc(5);
  head.writeUInt8(type | 26);
  head.writeUInt32BE(argument, 1);
  return head;
}
