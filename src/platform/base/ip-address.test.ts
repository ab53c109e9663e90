import { expect, test } from 'vitest';
import { addressKey, parseCidr } from './ip-address.ts';

test.each([
  ['192.0.2.1', { address: '192.0.2.1', prefixLength: 32, family: 'ipv4' }],
  ['0.0.0.0/0', { address: '0.0.0.0', prefixLength: 0, family: 'ipv4' }],
  ['172.16.0.0/12', { address: '172.16.0.0', prefixLength: 12, family: 'ipv4' }],
  ['2001:db8::1', { address: '2001:db8::1', prefixLength: 128, family: 'ipv6' }],
  ['::/0', { address: '::', prefixLength: 0, family: 'ipv6' }],
  ['fd00::/8', { address: 'fd00::', prefixLength: 8, family: 'ipv6' }],
  ['::ffff:10.0.0.0/104', { address: '::ffff:10.0.0.0', prefixLength: 104, family: 'ipv6' }],
])('%s is a network', (text, network) => {
  expect(parseCidr(text)).toEqual(network);
});

test.each([
  ...['192.0.2.1/24', '172.24.0.0/12', '2001:db8::1/64', '::1/127', '::ffff:10.0.0.1/104'],
  ...['', 'localhost', '10.0.0.0/', '10.0.0.0/33', '::/129', '10.0.0.0/8/8', '10.0.0/8', 'fe80::1%eth0', '10.0.0.0/-1'],
])('%s is not a network', (text) => {
  expect(parseCidr(text)).toBeUndefined();
});

test.each([
  ['::192.0.2.1', '0:0:0:0::/64'],
  ['::0:192.0.2.1%eth-0.1', '0:0:0:0::/64'],
  ['0:0:0:0:0:FFFF:192.0.2.1', '192.0.2.1'],
  ['010.0.0.1', 'unknown'],
  ['0x7f.1', 'unknown'],
])('callers at %s are counted as %s (R-40)', (address, key) => {
  expect(addressKey(address)).toBe(key);
});
