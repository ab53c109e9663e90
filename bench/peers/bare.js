/**
 * The upper limit of the platform: a bare `node:http` server that parses a form and runs one statement, with the same
 * driver, number of connections and durability. `/oauth2/introspect` runs one prepared single-row SELECT,
 * `/oauth2/token` one conditional UPDATE with two INSERTs in one statement.
 */
import { createHash, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import pg from 'pg';
import { serveOrders } from '../worker.js';

/** As many shared connections as Latchkey has with the default of ten. */
const CONNECTIONS = 6;

const SELECT = {
  name: 'bare-select',
  text: 'select id from oauth2_access_tokens where token_hash = $1::bytea',
};
const ROTATE = {
  name: 'bare-rotate',
  text: `with consumed as (
      update bare_refresh_tokens set consumed_at = $3::timestamptz
       where token_hash = $1::bytea and consumed_at is null
      returning id
    ), issued_access as (
      insert into bare_access_tokens (id, token_hash, created_at)
      select gen_random_uuid(), $4::bytea, $3::timestamptz from consumed
    )
    insert into bare_refresh_tokens (id, token_hash, created_at)
    select gen_random_uuid(), $2::bytea, $3::timestamptz from consumed
    returning id`,
};
const TABLES = `
  create table bare_access_tokens (id uuid primary key, token_hash bytea not null unique, created_at timestamptz not null);
  create table bare_refresh_tokens (
    id uuid primary key, token_hash bytea not null unique, created_at timestamptz not null, consumed_at timestamptz
  )`;

let clients = [];
let turn = 0;

serveOrders(async ({ kind, connection, tokens }) => {
  if (kind === 'fill') return await fill(tokens);
  clients = await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      const client = new pg.Client({ ...connection, pipeline: true });
      await client.connect();
      return client;
    }),
  );
  await clients[0].query(TABLES);
  const server = createServer(receive);
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server.address().port;
});

async function fill(count) {
  const tokens = Array.from({ length: count }, () => randomBytes(24).toString('base64url'));
  await clients[0].query(
    `insert into bare_refresh_tokens (id, token_hash, created_at)
     select gen_random_uuid(), hash, now() from unnest($1::bytea[]) as t (hash)`,
    [tokens.map(sha256)],
  );
  await clients[0].query('analyze bare_refresh_tokens');
  return tokens;
}

function receive(request, response) {
  let body = '';
  request.setEncoding('latin1');
  request.on('data', (text) => {
    body += text;
  });
  request.on('end', () => {
    const form = readForm(body);
    const answering = request.url === '/oauth2/introspect' ? select(form) : rotate(form);
    answering.then(
      (answer) => send(response, 200, answer),
      (error) => send(response, 500, { error: error.message }),
    );
  });
}

async function select(form) {
  const { rows } = await query(SELECT, [sha256(form.token)]);
  return rows.length === 0 ? { active: false } : { active: true, sub: rows[0].id };
}

async function rotate(form) {
  const [refresh, access] = [randomBytes(24).toString('base64url'), randomBytes(24).toString('base64url')];
  const now = new Date();
  const { rows } = await query(ROTATE, [sha256(form.refresh_token), sha256(refresh), now, sha256(access)]);
  return rows.length === 0 ? { error: 'invalid_grant' } : { access_token: access, refresh_token: refresh };
}

function query(statement, values) {
  turn = (turn + 1) % clients.length;
  return clients[turn].query({ ...statement, values });
}

function readForm(body) {
  const form = {};
  for (const pair of body.split('&')) {
    const equals = pair.indexOf('=');
    form[pair.slice(0, equals)] = decodeURIComponent(pair.slice(equals + 1));
  }
  return form;
}

function send(response, status, answer) {
  const text = JSON.stringify(answer);
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  response.end(text);
}

function sha256(text) {
  return createHash('sha256').update(text).digest();
}
