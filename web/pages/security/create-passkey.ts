/** Creates a passkey in the browser, and serializes it for the service. */

/** `known`: the authenticator already has a passkey of this account. `cancelled`: by the user or by timeout. */
export type CreatedPasskey =
  | { readonly ok: true; readonly response: object }
  | { readonly ok: false; readonly reason: 'cancelled' | 'known' | 'unavailable' };

export function canCreatePasskeys(): boolean {
  return window.PublicKeyCredential !== undefined;
}

/** @param options `PublicKeyCredentialCreationOptionsJSON` from the service */
export async function createPasskey(options: unknown): Promise<CreatedPasskey> {
  try {
    if (!areOptions(options)) return { ok: false, reason: 'unavailable' };
    const credential = await navigator.credentials.create({ publicKey: parseOptions(options) });
    return isNewPasskey(credential) ? { ok: true, response: describe(credential) } : { ok: false, reason: 'cancelled' };
  } catch (error) {
    const name = error instanceof Error ? error.name : '';
    if (name === 'InvalidStateError') return { ok: false, reason: 'known' };
    return { ok: false, reason: name === 'NotAllowedError' || name === 'AbortError' ? 'cancelled' : 'unavailable' };
  }
}

type NewPasskey = PublicKeyCredential & { readonly response: AuthenticatorAttestationResponse };

function areOptions(value: unknown): value is PublicKeyCredentialCreationOptionsJSON {
  return typeof value === 'object' && value !== null && 'challenge' in value && 'user' in value;
}

function isNewPasskey(credential: Credential | null): credential is NewPasskey {
  return credential instanceof PublicKeyCredential && 'attestationObject' in credential.response;
}

function parseOptions(options: PublicKeyCredentialCreationOptionsJSON): PublicKeyCredentialCreationOptions {
  if (typeof PublicKeyCredential.parseCreationOptionsFromJSON === 'function') {
    return PublicKeyCredential.parseCreationOptionsFromJSON(options);
  }
  const { rp, user, challenge, pubKeyCredParams, timeout, excludeCredentials = [], authenticatorSelection } = options;
  return {
    rp,
    user: { ...user, id: toBytes(user.id) },
    challenge: toBytes(challenge),
    pubKeyCredParams: pubKeyCredParams.map(({ alg }) => ({ type: 'public-key', alg })),
    ...(timeout !== undefined && { timeout }),
    excludeCredentials: excludeCredentials.map(({ id }) => ({ type: 'public-key', id: toBytes(id) })),
    ...(authenticatorSelection !== undefined && { authenticatorSelection }),
    attestation: 'none',
  };
}

// Serialized manually, because some browser extensions replace the object with one without `toJSON`.
function describe({ id, type, response }: NewPasskey): object {
  return {
    id,
    rawId: id,
    type,
    clientExtensionResults: {},
    response: {
      clientDataJSON: toText(response.clientDataJSON),
      attestationObject: toText(response.attestationObject),
      transports: typeof response.getTransports === 'function' ? response.getTransports() : [],
    },
  };
}

function toBytes(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

function toText(bytes: ArrayBuffer): string {
  const binary = Array.from(new Uint8Array(bytes), (byte) => String.fromCharCode(byte)).join('');
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}
