/** Translations of single values, shared by the rules of several keys. */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { parseUrl } from '#platform/base/url.ts';
import { type MappingNode, type Node, nodeAt, type Path } from '#platform/config/tree.ts';
import type { Translate } from './translation.ts';

export function textOf(node: Node | undefined): string | undefined {
  return node?.kind === 'scalar' && typeof node.value === 'string' ? node.value : undefined;
}

export function textAt(root: Node, path: Path): string | undefined {
  return textOf(nodeAt(root, path));
}

export function isTrue(node: Node | undefined): boolean {
  return node?.kind === 'scalar' && node.value === true;
}

/** Returns the mapping without some of its keys. */
export function withoutKeys(node: MappingNode, names: readonly string[]): MappingNode {
  return { ...node, entries: new Map([...node.entries].filter(([name]) => !names.includes(name))) };
}

/** Writes a URL as the parser of MAS does: host in lower case and ASCII, no default port, `/` for an empty path. */
export const normalizedUrl: Translate = (value, { note }) => {
  const text = textOf(value);
  const url = text === undefined ? undefined : parseUrl(text);
  if (value.kind !== 'scalar' || text === undefined || url === undefined || url.href === text) return value;
  if (/^https?:/i.test(text)) note('change', `written as "${url.href}", which is what MAS publishes`);
  return { ...value, value: url.href };
};

/** Removes the host bits of a network, which MAS permits. */
export const maskedNetwork: Translate = (value, { note }) => {
  const text = textOf(value);
  const network = text === undefined ? undefined : networkOf(text);
  if (value.kind !== 'scalar' || network === undefined || network === text) return value;
  note('change', `"${text}" is the network ${network}`);
  return { ...value, value: network };
};

/** Returns undefined if the text is not a network. */
export function networkOf(text: string): string | undefined {
  const [address = '', mask, ...rest] = text.split('/');
  const version = address.includes('%') ? 0 : isIP(address);
  if (version === 0 || rest.length > 0) return undefined;
  if (mask === undefined) return address;
  const prefix = version === 4 && isIP(mask) === 4 ? ipaddr.IPv4.parse(mask).prefixLengthFromSubnetMask() : mask;
  if (prefix === null || !/^\d{1,3}$/.test(String(prefix)) || Number(prefix) > (version === 4 ? 32 : 128)) {
    return undefined;
  }
  const family = version === 4 ? ipaddr.IPv4 : ipaddr.IPv6;
  const network = family.networkAddressFromCIDR(`${family.parse(address)}/${prefix}`).toString();
  return `${network}/${prefix}`;
}

/** Limits a number of seconds to the range that Latchkey accepts. */
export function clamped(minimum: number, maximum: number): Translate {
  return (value, { note }) => {
    if (value.kind !== 'scalar' || typeof value.value !== 'number') return value;
    const seconds = Math.min(maximum, Math.max(minimum, value.value));
    if (seconds === value.value) return value;
    note('warning', `${value.value} s is outside of ${minimum} to ${maximum} s; ${seconds} s is used`);
    return { ...value, value: seconds };
  };
}

/** Accepts the places where MAS ships a file; another value is refused, because Latchkey cannot use the file. */
export function shipped(name: string, refusal: string): Translate {
  return (value, { note }) => {
    if (isShippedPath(value, name)) {
      note('change', 'left out: it is where MAS ships its own files, and Latchkey has its own');
      return undefined;
    }
    note('refusal', refusal);
    return undefined;
  };
}

/** The directories of MAS in its container image, in its archives, and in its sources. */
const SHIPPED_BELOW = ['/usr/local/share/mas-cli/', './share/', 'share/'];

export function isShippedPath(value: Node, name: string): boolean {
  const path = textOf(value)?.replace(/\/+$/, '');
  return SHIPPED_BELOW.some((directory) => path === directory + name);
}
