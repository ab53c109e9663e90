import assert from 'node:assert/strict';
import { clientToken, statusWith } from '../access-tokens.js';

export function tokenChecks() {
  return [
    [
      'it takes the tokens of its own resource with the right scope alone',
      async ({ application, latchkey }) => {
        const token = async (scope, resource) => await clientToken(latchkey, application, { scope, resource });
        const notes = await token('notes.list notes.write', 'https://notes.example.org/');
        const writing = await token('notes.write', 'https://notes.example.org/');
        const other = await token('letters.list', 'https://letters.example.org/');
        const opaque = await token('events.list', 'https://events.example.org/');
        const address = `${application.base}/notes`;
        const statuses = [];
        for (const one of [notes, writing, other, opaque, `${notes}x`]) statuses.push(await statusWith(address, one));
        assert.deepEqual(statuses, [200, 403, 401, 401, 401]);
      },
    ],
  ];
}
