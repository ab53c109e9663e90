import { isIP } from 'node:net';
import type { Cidr } from '#platform/base/cidr.ts';

/** An IP address (its own network) or `IP/prefix`; undefined for anything else and when host bits are set. */
export function parseCidr(text: string): Cidr | undefined {
  const [address = '', prefix, ...rest] = text.split('/');
  const version = address.includes('%') ? 0 : isIP(address);
  if (version === 0 || rest.length > 0 || (prefix !== undefined && !/^\d{1,3}$/.test(prefix))) return undefined;
  const bits = version === 4 ? 32 : 128;
  const prefixLength = prefix === undefined ? bits : Number(prefix);
  if (prefixLength > bits) return undefined;
  const value = version === 4 ? valueOfIpv4(address) : valueOfIpv6(address);
  const hostBits = (1n << BigInt(bits - prefixLength)) - 1n;
  if ((value & hostBits) !== 0n) return undefined;
  return { address, prefixLength, family: version === 4 ? 'ipv4' : 'ipv6' };
}

function valueOfIpv4(address: string): bigint {
  return address.split('.').reduce((value, part) => (value << 8n) | BigInt(part), 0n);
}

function valueOfIpv6(address: string): bigint {
  const [head = '', tail] = groupsWithoutIpv4(address).split('::');
  const left = groups(head);
  const right = tail === undefined ? [] : groups(tail);
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => 0n);
  return [...left, ...zeros, ...right].reduce((value, group) => (value << 16n) | group, 0n);
}

/** `::ffff:10.0.0.1` as `::ffff:a00:1` (RFC 4291 2.2, form 3). */
function groupsWithoutIpv4(address: string): string {
  const start = address.lastIndexOf(':') + 1;
  const last = address.slice(start);
  if (!last.includes('.')) return address;
  const value = valueOfIpv4(last);
  return `${address.slice(0, start)}${(value >> 16n).toString(16)}:${(value & 0xffffn).toString(16)}`;
}

function groups(text: string): bigint[] {
  return text === '' ? [] : text.split(':').map((group) => BigInt(`0x${group}`));
}
