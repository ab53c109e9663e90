import { expect, test } from 'vitest';
import { load } from '#config/fixture.test-support.ts';
import { parseDotEnv } from './dot-env.ts';

test('.env: parses comments, export, quotes and values over several lines', () => {
  const text = [
    '# comment',
    '',
    'PLAIN=value # comment',
    '  SPACED = a b  ',
    'export EXPORTED=yes',
    "SINGLE='a \\n #b' # comment",
    'DOUBLE="a\\nb \\"c\\""',
    'PEM="-----BEGIN',
    'x',
    '-----END"',
    'HASH=a#b',
    'EMPTY=',
    'CRLF=1\r',
    'LAST=end',
  ].join('\n');
  expect(parseDotEnv(text)).toEqual({
    variables: {
      PLAIN: 'value',
      SPACED: 'a b',
      EXPORTED: 'yes',
      SINGLE: 'a \\n #b',
      DOUBLE: 'a\nb "c"',
      PEM: '-----BEGIN\nx\n-----END',
      HASH: 'a#b',
      EMPTY: '',
      CRLF: '1',
      LAST: 'end',
    },
    badLines: [],
  });
});

test('.env: reports lines that are not assignments and applies the others', () => {
  expect(parseDotEnv('A=1\nwhat\n2B=3\nC="open\nD=4')).toEqual({
    variables: { A: '1', D: '4' },
    badLines: [2, 3, 4],
  });
});

test('.env sets only variables that the environment does not set', () => {
  const files = { '.env': 'LATCHKEY__OAUTH__ID_TOKEN_TTL=100\nLATCHKEY__OAUTH__REFRESH_GRACE=1\n' };
  const { config } = load({ files, environment: { LATCHKEY__OAUTH__ID_TOKEN_TTL: '200' } });
  expect(config.oauth).toMatchObject({ idTokenTtlSeconds: 200, refreshGraceSeconds: 1 });
});

test('.env: does not override a variable that is set but empty', () => {
  const files = { '.env': 'LATCHKEY__OAUTH__ID_TOKEN_TTL=100\n' };
  expect(load({ files, environment: { LATCHKEY__OAUTH__ID_TOKEN_TTL: '' } }).config.oauth.idTokenTtlSeconds).toBe(3600);
});

test('.env may name the configuration files', () => {
  const files = { '.env': 'LATCHKEY_CONFIG=named.yaml\n', 'named.yaml': 'protocol_name: named\n' };
  expect(load({ files }).config.protocolName).toBe('named');
});
