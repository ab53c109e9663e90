/** A single-page application with oidc-client-ts; this process only hands out its files. */
import { fileURLToPath } from 'node:url';
import express from 'express';

const { ISSUER, CLIENT_ID, PORT } = process.env;

const library = fileURLToPath(new URL('../../node_modules/oidc-client-ts/dist/browser/', import.meta.url));
const app = express();
app.use('/library', express.static(library));
app.get('/settings.json', (_request, response) => response.json({ authority: ISSUER, client_id: CLIENT_ID }));
app.get('/page.js', (_request, response) => response.sendFile('page.js', { root: import.meta.dirname }));
app.use((_request, response) => response.sendFile('page.html', { root: import.meta.dirname }));
app.listen(PORT, '127.0.0.1');
