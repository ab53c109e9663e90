import type { MistakenKeys } from '#platform/config/shape.ts';

export const MISTAKEN_KEYS: readonly MistakenKeys[] = [
  {
    keys: ['http.port', 'port', 'server.port'],
    advice: 'set the port in "http.listeners[].binds[]", or in an "http.public_base" on this machine',
  },
  {
    keys: ['http.host', 'host', 'http.address', 'http.bind', 'server.host'],
    advice: 'set the address in "http.listeners[].binds[]"',
  },
  { keys: ['http.base_url', 'http.url', 'base_url', 'public_url'], advice: 'use "http.public_base"' },
  { keys: ['oauth.issuer'], advice: 'use "http.issuer"' },
  { keys: ['smtp', 'mail', 'mailer'], advice: 'use "email"' },
  { keys: ['db', 'postgres', 'postgresql', 'database_url'], advice: 'use "database.uri"' },
];
