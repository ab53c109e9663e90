import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { digestOfFile } from './digest.js';

/** Names of signature algorithms in the format of minisign: of keys, and of signatures of a BLAKE2b digest. */
const KEY_ALGORITHM = 'Ed';
const DIGEST_ALGORITHM = 'ED';
const ID_BYTES = 8;
/** Start of an Ed25519 key in SubjectPublicKeyInfo (RFC 8410); 32 bytes follow. */
const PUBLIC_KEY_START = Buffer.from('302a300506032b6570032100', 'hex');

/**
 * Reads the release key: an Ed25519 key in PKCS #8 (PEM) from the file that `LATCHKEY_RELEASE_KEY_FILE` names, or from
 * the variable `LATCHKEY_RELEASE_KEY`. Returns undefined if neither is set.
 */
export function readSigningKey(environment) {
  const { LATCHKEY_RELEASE_KEY: text, LATCHKEY_RELEASE_KEY_FILE: file } = environment;
  if (file === undefined && text === undefined) return undefined;
  const key = createPrivateKey(file === undefined ? text : readFileSync(file, 'utf8'));
  if (key.asymmetricKeyType !== 'ed25519')
    throw new Error(`the release key must be Ed25519, not ${key.asymmetricKeyType}`);
  return key;
}

export function newSigningKey() {
  return generateKeyPairSync('ed25519').privateKey;
}

/** Returns the public key file of minisign for a key. The ID of a key is the start of its SHA-256 digest. */
export function publicKeyFile(key) {
  const raw = rawPublicKey(key);
  const line = Buffer.concat([Buffer.from(KEY_ALGORITHM), idOf(raw), raw]).toString('base64');
  return `untrusted comment: Latchkey release key ${idOf(raw).toString('hex')}\n${line}\n`;
}

/** Reads a public key file of minisign, or only its second line. */
export function readPublicKey(text) {
  const bytes = Buffer.from(text.trim().split('\n').at(-1), 'base64');
  if (bytes.length !== 42 || bytes.toString('latin1', 0, 2) !== KEY_ALGORITHM) {
    throw new Error('not a public key of minisign: expected a line of 56 characters that starts with RW');
  }
  const id = bytes.subarray(2, 2 + ID_BYTES);
  const raw = bytes.subarray(2 + ID_BYTES);
  return { id, key: createPublicKey({ key: Buffer.concat([PUBLIC_KEY_START, raw]), format: 'der', type: 'spki' }) };
}

/** Returns the text of a signature file of minisign for a file. The comment is signed too. */
export function signFile(path, key, comment) {
  const raw = rawPublicKey(key);
  const signature = sign(null, digestOfFile(path, 'blake2b512', 'buffer'), key);
  const global = sign(null, Buffer.concat([signature, Buffer.from(comment)]), key);
  const line = Buffer.concat([Buffer.from(DIGEST_ALGORITHM), idOf(raw), signature]).toString('base64');
  return [
    'untrusted comment: signature of a Latchkey release',
    line,
    `trusted comment: ${comment}`,
    global.toString('base64'),
    '',
  ].join('\n');
}

/** Verifies a signature file of minisign and returns its signed comment. */
export function verifyFile(path, signatureText, publicKey) {
  const [, line, commentLine, global] = signatureText.split('\n');
  const bytes = Buffer.from(line ?? '', 'base64');
  const comment = (commentLine ?? '').replace('trusted comment: ', '');
  if (bytes.toString('latin1', 0, 2) !== DIGEST_ALGORITHM) throw new Error('the signature is not one of a digest (ED)');
  const id = bytes.subarray(2, 2 + ID_BYTES);
  if (!id.equals(publicKey.id)) {
    throw new Error(`signed with the key ${id.toString('hex')}, not with ${publicKey.id.toString('hex')}`);
  }
  const signature = bytes.subarray(2 + ID_BYTES);
  const isSigned =
    verify(null, digestOfFile(path, 'blake2b512', 'buffer'), publicKey.key, signature) &&
    verify(null, Buffer.concat([signature, Buffer.from(comment)]), publicKey.key, Buffer.from(global ?? '', 'base64'));
  if (!isSigned) throw new Error(`the signature of ${path} is not valid`);
  return comment;
}

/** Returns a DSSE envelope, the form in which in-toto statements are signed. */
export function signEnvelope(payloadType, payload, key) {
  const body = Buffer.from(payload);
  const signed = authenticated(payloadType, body);
  const keyid = idOf(rawPublicKey(key)).toString('hex');
  return {
    payloadType,
    payload: body.toString('base64'),
    signatures: [{ keyid, sig: sign(null, signed, key).toString('base64') }],
  };
}

/** Verifies a DSSE envelope and returns its payload. */
export function openEnvelope({ payloadType, payload, signatures }, publicKey) {
  const body = Buffer.from(payload, 'base64');
  const signed = authenticated(payloadType, body);
  const isSigned = signatures.some(({ sig }) => verify(null, signed, publicKey.key, Buffer.from(sig, 'base64')));
  if (!isSigned) throw new Error('the provenance has no signature of the release key');
  return body.toString();
}

/** The pre-authentication encoding of DSSE 1. */
function authenticated(payloadType, body) {
  return Buffer.concat([Buffer.from(`DSSEv1 ${Buffer.byteLength(payloadType)} ${payloadType} ${body.length} `), body]);
}

function rawPublicKey(key) {
  return createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(PUBLIC_KEY_START.length);
}

function idOf(raw) {
  return createHash('sha256').update(raw).digest().subarray(0, ID_BYTES);
}
