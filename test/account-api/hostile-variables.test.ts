/** Sends every hostile value in every argument and every input member of the schema. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildAccountSchema } from '#features/account-api/schema/schema.ts';
import { expectValidLogLines } from '../hostile-input/invariants.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { codesOf } from '../support/graphql-client.ts';
import { startService, type TestService } from '../support/service.ts';
import { bundleWorker } from '../support/worker-entry.ts';
import { naming } from './naming.ts';
import { makeOwned, SETTINGS } from './owned-objects.ts';
import { ask, membersOf, rootFields } from './schema-walk.ts';

const TIMEOUT_MS = 600_000;

/** As JSON source text. */
const VALUES: readonly string[] = [
  ...['null', 'true', 'false', '0', '-0', '-1', '1.5', '1e309', '1e-400', '2147483648', '9007199254740993'],
  ...['[]', '{}', '[null]', '[[[[]]]]', '{"__proto__":{"a":1}}', '{"constructor":1,"toString":1}', '["x","x"]'],
  ...['"\\ud800"', '"\\u0000"', '"a\\u0000b"', '"\\u202e"', '"\\ufeff"', '"\\uffff"', '"a\\r\\nX: 1"', '"\\u001b[31m"'],
  ...[
    '""',
    '" "',
    '"__proto__"',
    '"constructor"',
    '"..%2f..%2fetc"',
    `"' or '1'='1"`,
    '"%00"',
    '"{{7*7}}"',
    '"<svg onload=1>"',
  ],
  ...['"user:"', '"user:80000000000000000000000000"', '"site_config"', '"anonymous"', '"x:00000000000000000000000000"'],
  ...[
    '"2026-02-30T25:61:61Z"',
    '"+275760-09-13T00:00:00Z"',
    '"0000-01-01T00:00:00Z"',
    '"javascript:alert(1)"',
    '"xx-"',
  ],
  ...['"x@y"', '"@"', '"a@[127.0.0.1]"', `"${'a'.repeat(20_000)}"`, `"${'e\\u0301'.repeat(600)}"`],
];

const schema = buildAccountSchema();
const clock = new FakeClock();
let service: TestService;

beforeAll(async () => {
  const worker = new URL('../../src/domain/accounts/passwords/strength.worker.ts', import.meta.url);
  service = await startService(SETTINGS, { clock, strengthWorker: await bundleWorker(worker) });
});

afterAll(async () => {
  await service.stop();
});

const FIELDS = (['query', 'mutation'] as const).flatMap((of) =>
  rootFields(schema, of)
    .filter((field) => field.args.length > 0)
    .map((field) => [of, field.name, field] as const),
);

test.each(FIELDS)(
  'the %s %s: no internal error and one log line for any variable value (S-157, S-159 to S-162)',
  async (of, name, field) => {
    // A response may change the user's data, so each field gets a separate user.
    const owned = await makeOwned(service, schema, clock, `${name.toLowerCase()}-owner`);
    const values = naming(owned, field, 'owner');
    const codes = new Set<unknown>();
    for (const member of membersOf(field)) {
      const { document, variables } = ask(of, field, { ...values, [member.name]: 'SPOILT' });
      for (const value of VALUES) {
        const logged = service.logLines().length;
        const body = JSON.stringify({ query: document, variables }).replace('"SPOILT"', () => value);
        const response = await owned.callers.owner.post(body);
        const where = `${name}(${member.name}: ${value.slice(0, 60)}): ${response.text.slice(0, 300)}`;
        expect([200, 400], where).toContain(response.status);
        expect(codesOf(response), where).not.toContain('INTERNAL');
        expect(response.text, where).not.toMatch(/"stack|\bat .*\.ts:|select .* from/i);
        expect(expectValidLogLines(service.logLines().slice(logged)), where).toHaveLength(1);
        for (const code of codesOf(response)) codes.add(code);
      }
    }
    expect(codes, 'some were refused').toContain('BAD_USER_INPUT');
  },
  TIMEOUT_MS,
);
