/** The single-page application of its guide. This process only serves its files. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import express from 'express';

const { ISSUER, CLIENT_ID, PORT } = process.env;

const guide = readFileSync(new URL('../../../docs/guides/single-page-app.md', import.meta.url), 'utf8');
const script = block('js')
  .replace('http://localhost:8080', ISSUER)
  .replace(/client_id: '\w+'/, `client_id: '${CLIENT_ID}'`);
const library = fileURLToPath(
  new URL('../../node_modules/oidc-client-ts/dist/browser/oidc-client-ts.min.js', import.meta.url),
);
const app = express();
app.get('/oidc-client-ts.js', (_request, response) => response.sendFile(library));
// Exposes the object behind the buttons to the checks.
app.get('/page.js', (_request, response) => response.type('js').send(`${script}window.manager = manager;\n`));
app.use((_request, response) => response.type('html').send(block('html')));
app.listen(PORT, '127.0.0.1');

/** Returns the first code block of a language in the guide. */
function block(language) {
  const [, text] = new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'ms').exec(guide) ?? [];
  if (text === undefined) throw new Error(`the guide has no ${language}`);
  return text;
}
