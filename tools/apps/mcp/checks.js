/** MCP clients that register or publish a metadata document, sign a user in, and call a tool of the MCP server. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { python } from '../install.js';
import { decide, signIn, subjectOf } from '../user.js';

const CLIENTS = [
  ['the SDK for TypeScript registers itself', () => [process.execPath, 'client.js']],
  ['the SDK for Python registers itself', async () => [await python(), 'client.py']],
  ['the SDK for TypeScript publishes a document', () => [process.execPath, 'client.js'], ({ clientId }) => [clientId]],
];

export function toolChecks() {
  return CLIENTS.map(([name, command, identity = () => []]) => [
    `a client with ${name}, a person signs in, and the tool knows who it is`,
    async ({ page, application, latchkey, publisher }) => {
      const [program, ...args] = await command();
      const client = spawn(program, [...args, `${application.base}/mcp`, ...identity(publisher)], {
        cwd: import.meta.dirname,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let problemsIn = '';
      client.stderr.setEncoding('utf8').on('data', (text) => {
        problemsIn += text;
      });
      const ended = new Promise((resolve) => client.once('close', resolve));
      try {
        const lines = createInterface({ input: client.stdout })[Symbol.asyncIterator]();
        const next = async (word) => {
          const { value = '' } = await lines.next();
          assert.ok(value.startsWith(`${word}: `), `${value}\n${problemsIn}`);
          return value.slice(word.length + 2);
        };
        await page.goto(await next('open'));
        await signIn(page, latchkey.base);
        await decide(page, latchkey.base, 'consent');
        assert.equal(await next('answer'), subjectOf(latchkey));
        const isRead = latchkey.logLines().some((line) => line.includes(`client=${publisher.clientId} `));
        if (identity(publisher).length > 0) assert.ok(isRead, 'the document was read');
      } finally {
        client.kill();
        await ended;
      }
    },
  ]);
}
