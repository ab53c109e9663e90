/** Translates `clients` and `upstream_oauth2` of a MAS document. */
import { parseUrl } from '#platform/base/url.ts';
import { type MappingNode, type Node, nodeOf } from '#platform/config/tree.ts';
import { MIN_SECRET_LENGTH } from '../sections/clients.ts';
import type { Translate } from './translation.ts';
import { isTrue, textAt, textOf, withoutKeys } from './values.ts';

/** Adds the spelling that the URL parser of MAS writes. MAS compares parsed URLs, Latchkey compares texts. */
export const redirectUris: Translate = (value, { note }) => {
  if (value.kind !== 'list') return value;
  const written = new Set(value.items.flatMap((item) => textOf(item) ?? []));
  const items = value.items.flatMap((item): Node[] => {
    const text = textOf(item);
    const url = text === undefined ? undefined : parseUrl(text);
    if (url === undefined || written.has(url.href)) return [item];
    written.add(url.href);
    note('change', `"${url.href}" is added: MAS accepts both spellings of "${text}"`);
    return [item, nodeOf(url.href, item.at)];
  });
  return { ...value, items };
};

/** A secret in a file is measured when the file is read. */
export const client: Translate = (value, { note }) => {
  if (value.kind !== 'mapping' || value.entries.has('allow_short_secret')) return value;
  const secret = textAt(value, ['client_secret']);
  const isShort = secret !== undefined && secret.length < shortest(textAt(value, ['client_auth_method']));
  if (isShort) note('change', 'allow_short_secret is set, because the secret is shorter than Latchkey requires');
  return isShort || value.entries.has('client_secret_file') ? withEntry(value, 'allow_short_secret', true) : value;
};

const SIGNING_SECRET_LENGTH = 32;

function shortest(method: string | undefined): number {
  return method === 'client_secret_jwt' ? SIGNING_SECRET_LENGTH : MIN_SECRET_LENGTH;
}

export function withEntry(node: MappingNode, name: string, value: unknown): MappingNode {
  return { ...node, entries: new Map([...node.entries, [name, { at: node.at, value: nodeOf(value, node.at) }]]) };
}

export const provider: Translate = (value, { note, document }) => {
  if (value.kind !== 'mapping') return value;
  let result = value;
  if (result.entries.has('userinfo_signed_response_alg') && !isTrue(result.entries.get('fetch_userinfo')?.value)) {
    note('warning', '"userinfo_signed_response_alg" is ignored without "fetch_userinfo"');
    result = withoutKeys(result, ['userinfo_signed_response_alg']);
  }
  const account = document.entries.get('account')?.value;
  const needsToken = account?.kind === 'mapping' && isTrue(account.entries.get('registration_token_required')?.value);
  if (needsToken && !isTrue(result.entries.get('registration_token_required')?.value)) {
    note('change', 'registration_token_required is set, because account.registration_token_required is set');
    result = withEntry(withoutKeys(result, ['registration_token_required']), 'registration_token_required', true);
  }
  return result;
};

/** If both are given, MAS uses the text of the key. */
export const apple: Translate = (value, { note }) => {
  if (value.kind !== 'mapping' || !value.entries.has('private_key') || !value.entries.has('private_key_file')) {
    return value;
  }
  note('warning', '"private_key_file" is ignored, because "private_key" is set');
  return withoutKeys(value, ['private_key_file']);
};
