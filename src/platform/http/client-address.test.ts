import { describe, expect, test } from 'vitest';
import { expectLinear, timeOf } from '#test/support/measuring.ts';
import { canonicalAddress, findClient, TrustedProxies } from './client-address.ts';

const proxies = new TrustedProxies([
  { address: '10.0.0.0', prefixLength: 8, family: 'ipv4' },
  { address: 'fd00::', prefixLength: 8, family: 'ipv6' },
]);

function fromHeader(header: string | undefined, socketAddress: string | undefined = '10.0.0.1'): string | undefined {
  return findClient(proxies.peer(socketAddress), 'x-forwarded-for', header, proxies).address;
}

function fromForwarded(header: string): string | undefined {
  return findClient(proxies.peer('10.0.0.1'), 'forwarded', header, proxies).address;
}

describe('client.address (operations 5.6)', () => {
  test.each([
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:C000:0201', '192.0.2.1'],
    ['2001:DB8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['1.2.3', undefined],
    ['1.2.3.4.5', undefined],
    ['', undefined],
    ['unknown', undefined],
  ])('normalizes an address: %s is %s', (text, canonical) => {
    expect(canonicalAddress(text)).toBe(canonical);
  });

  test('returns an untrusted peer whatever headers it sends (S-147)', () => {
    expect(fromHeader('127.0.0.1', '203.0.113.9')).toBe('203.0.113.9');
    expect(fromHeader('127.0.0.1', '::ffff:203.0.113.9')).toBe('203.0.113.9');
  });

  test.each([
    ['no header: the peer', undefined, '10.0.0.1'],
    ['an empty header: the peer', ' ', '10.0.0.1'],
    ['the right-most address that is not trusted', '1.2.3.4, 198.51.100.7', '198.51.100.7'],
    ['trusted entries are skipped', '1.2.3.4, 198.51.100.7, 10.9.9.9,fd00::5', '198.51.100.7'],
    ['white space is trimmed', '  198.51.100.7\t, 10.0.0.2 ', '198.51.100.7'],
    ['all entries trusted: the left-most', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    ['a port is stripped', '198.51.100.7:4711', '198.51.100.7'],
    ['brackets and port are stripped', '[2001:DB8::7]:4711', '2001:db8::7'],
    ['brackets alone are stripped', '[2001:db8::7]', '2001:db8::7'],
    ['IPv6 as it is', '2001:db8::7', '2001:db8::7'],
    ['a mapped address is written as IPv4', '::ffff:198.51.100.7', '198.51.100.7'],
    ['no address: the peer', 'unknown', '10.0.0.1'],
    ['an obfuscated one stops the walk', '198.51.100.7, _hidden, 10.0.0.2', '10.0.0.2'],
    ['an empty part stops the walk', '198.51.100.7, , 10.0.0.2', '10.0.0.2'],
    ['text stops the walk', '198.51.100.7, evil"\r\n', '10.0.0.1'],
  ])('%s', (_claim, header, expected) => {
    expect(fromHeader(header)).toBe(expected);
  });

  test('reads at most 50 entries', () => {
    const trusted = Array.from({ length: 50 }, (_, index) => `10.0.1.${index}`);
    expect(fromHeader(['198.51.100.7', ...trusted].join(','))).toBe('10.0.1.0');
    expect(fromHeader(['198.51.100.7', ...trusted.slice(1)].join(','))).toBe('198.51.100.7');
  });

  test('behind a Unix socket the header decides, and without one there is no address', () => {
    const peer = proxies.peer(undefined);
    expect(findClient(peer, 'x-forwarded-for', '198.51.100.7', proxies).address).toBe('198.51.100.7');
    expect(findClient(peer, 'x-forwarded-for', undefined, proxies).address).toBeUndefined();
  });

  test('reads no header when none is configured', () => {
    expect(findClient(proxies.peer('10.0.0.1'), 'none', '198.51.100.7', proxies).address).toBe('10.0.0.1');
  });

  test.each([
    ['a token', 'for=198.51.100.7', '198.51.100.7'],
    ['names in any case, other pairs around it', 'proto=https;For="198.51.100.7:80";by=10.0.0.1', '198.51.100.7'],
    ['quoted IPv6 with port', 'for="[2001:db8:cafe::17]:4711"', '2001:db8:cafe::17'],
    ['several elements', 'for=1.2.3.4, for=198.51.100.7;proto=http, for=10.0.0.2', '198.51.100.7'],
    ['a comma inside quotes does not separate', 'for=1.2.3.4, for="x,198.51.100.7"', '10.0.0.1'],
    ['obfuscated', 'for=_gazonk', '10.0.0.1'],
    ['unknown', 'for=1.2.3.4, for=unknown', '10.0.0.1'],
    ['an element without for', 'for=1.2.3.4, proto=https', '10.0.0.1'],
    ['an open quote', 'for=1.2.3.4, for="198.51.100.7', '10.0.0.1'],
    ['an unclosed quote hides no address', 'for=", for="[2001:db8::7]"', '2001:db8::7'],
    ['nor does an escape', 'for="\\, for="198.51.100.7:80"', '198.51.100.7'],
    ['a pair whose name only ends in for', 'xfor=198.51.100.7', '10.0.0.1'],
  ])('Forwarded (RFC 7239): %s', (_claim, header, expected) => {
    expect(fromForwarded(header)).toBe(expected);
  });

  test.each(['"', '\\', '"\\', '",', 'for="', ';', ', ', 'for=', ' ', '1.', '['])(
    'reads headers full of %j in linear time',
    async (part) => {
      for (const read of [fromForwarded, fromHeader]) {
        await expectLinear((size) => timeOf(() => void read(part.repeat(size / part.length))), 16_384);
      }
    },
  );
});
