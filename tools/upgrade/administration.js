/**
 * Simulates administrators beside the users of `Load`: groups, invitations (registration tokens), clients and audit
 * events. Every acknowledged change is recorded and must be in effect at the end, with its audit event.
 */
import { randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';

const ADMIN_ID = '01JD3Q5Z8W2N4K6M7P9R0S1T4V';
const ADMIN_SECRET = 'an-admin-secret-of-at-least-16-characters';
const ADMIN_SCOPE = 'urn:mas:admin';
const REQUEST_MS = 20_000;
const PAUSE_MS = 50;
const MEMBERS = 12;
const INVITATIONS = 12;
const TEAMS = ['staff', 'night shift', 'équipe', '管理', 'Staff'];
const CREATED = 201;
/** The job that creates records of groups is due at the first start of a version that has it. */
const ADOPTION_MS = 60_000;

/** Settings for the client of the administrators, added to those of an instance. */
export function withAdministrators(settings) {
  const [listener] = settings.http.listeners;
  const { clients } = settings;
  const administrators = {
    ...{ client_id: ADMIN_ID, client_auth_method: 'client_secret_basic', client_secret: ADMIN_SECRET },
    grant_types: ['client_credentials'],
  };
  return {
    ...settings,
    http: { ...settings.http, listeners: [{ ...listener, resources: [...listener.resources, 'adminapi'] }] },
    clients: [...clients, administrators],
    policy: { data: { admin_clients: [ADMIN_ID] } },
  };
}

export class Administration {
  faults = [];
  /** Acknowledged requests. */
  acknowledged = 0;
  slowestMs = 0;
  #bases;
  #server;
  #token = '';
  /** Groups of accounts, and invitations, as last acknowledged. */
  #members = new Map();
  #invitations = new Map();
  /** Clients that administrators created, with their secrets. */
  #managed = [];
  /** Acknowledged changes by operation. */
  #changes = new Map();
  #former = '';
  #isOn = false;
  #working = [];

  /** @param server connection parameters of the database */
  constructor(bases, server) {
    this.#bases = bases;
    this.#server = server;
  }

  /** Creates accounts with groups, and invitations, with the older version. */
  async prepare() {
    this.#token = (await this.#tokenOf(ADMIN_ID, ADMIN_SECRET, ADMIN_SCOPE)) ?? '';
    for (let count = 0; count < MEMBERS; count += 1) {
      const { id } = await this.#change('createUser', 'POST', 'users', { username: `member-${count}` }, CREATED);
      this.#members.set(id, []);
      await this.#regroup(id);
    }
    for (let count = 0; count < INVITATIONS; count += 1) await this.#invite();
    this.#former = await this.#eventsSoFar();
  }

  start() {
    this.#isOn = true;
    const loops = [
      ...halves([...this.#members.keys()]).map((ids) => () => this.#regroup(ids[randomInt(ids.length)])),
      ...halves([...this.#invitations.keys()]).map((ids) => () => this.#alter(ids[randomInt(ids.length)])),
      () => this.#readLists(),
      () => this.#useManaged(),
    ];
    this.#working = loops.map((step) => this.#repeat(step));
  }

  async stop() {
    this.#isOn = false;
    await Promise.all(this.#working);
  }

  /** Waits until the groups of all accounts are records, then creates what the older version does not know. */
  async createRecords() {
    const names = new Set([...this.#members.values()].flat());
    const deadline = performance.now() + ADOPTION_MS;
    for (;;) {
      const listed = await this.#get('groups?page[first]=1000&count=false');
      const missing = [...names].filter((name) => !listed.some(({ attributes }) => attributes.name === name));
      if (missing.length === 0) break;
      if (performance.now() > deadline) throw new Error(`not a record: ${missing.join(', ')}`);
      await pause(PAUSE_MS);
    }
    for (const allowed_groups of [undefined, [TEAMS[0]]]) {
      const body = {
        ...{ client_name: 'Created by an administrator', grant_types: ['client_credentials'] },
        ...{ client_auth_method: 'client_secret_basic', ...(allowed_groups && { allowed_groups }) },
      };
      const { id, meta } = await this.#change('createOAuth2Client', 'POST', 'oauth2-clients', body, CREATED);
      this.#managed.push({ id, secret: meta.client_secret, groups: allowed_groups ?? [] });
    }
    const invitation = { email: 'maren@guests.example', groups: [TEAMS[1]], note: 'A guest of the night shift' };
    const operation = 'addUserRegistrationToken';
    const { id, attributes } = await this.#change(operation, 'POST', 'user-registration-tokens', invitation, CREATED);
    this.#invitations.set(id, { token: attributes.token, revoked: false, ...invitation });
  }

  /** Uses what `createRecords` created with a version that does not know it. */
  async changeRecords() {
    for (const [id, { note, revoked }] of this.#invitations) if (note !== undefined && !revoked) await this.#alter(id);
    for (const client of this.#managed) await this.#useManaged(client);
  }

  /**
   * Checks that all acknowledged changes are in effect, and that events from before the upgrade are as they were.
   * @returns the number of facts compared
   */
  async compare() {
    for (const [id, groups] of this.#members) {
      const { attributes } = await this.#get(`users/${id}/groups`);
      this.#requireSame('groups of an account', attributes.groups, [...groups].sort());
    }
    for (const [id, { token, revoked, ...others }] of this.#invitations) {
      const { attributes } = await this.#get(`user-registration-tokens/${id}`);
      this.#requireSame('an invitation', [attributes.token, attributes.revoked_at !== null], [token, revoked]);
      for (const [name, value] of Object.entries(others)) this.#requireSame(name, attributes[name], value);
    }
    for (const client of this.#managed) {
      const { attributes } = await this.#get(`oauth2-clients/${client.id}`);
      const { kind, access, allowed_groups } = attributes;
      const isLimited = client.groups.length > 0;
      const expected = ['managed', isLimited ? 'groups' : 'everyone', client.groups];
      this.#requireSame('a client', [kind, access, allowed_groups], expected);
      await this.#useManaged(client);
    }
    this.#requireSame('audit events from before', await this.#eventsSoFar(this.#former.last), this.#former);
    const events = await this.#actions();
    for (const [operation, count] of this.#changes)
      this.#requireSame(`events of ${operation}`, events[operation], count);
    return this.#members.size + this.#invitations.size + this.#managed.length + this.#changes.size + 1;
  }

  async #regroup(id) {
    const groups = TEAMS.filter(() => randomInt(2) === 0);
    await this.#change('setUserGroups', 'PUT', `users/${id}/groups`, { groups });
    this.#members.set(id, groups);
    const { attributes } = await this.#get(`users/${id}/groups`);
    this.#requireSame('groups of an account', attributes.groups, [...groups].sort());
  }

  async #invite() {
    const operation = 'addUserRegistrationToken';
    const body = { usage_limit: 1 + randomInt(9) };
    const { id, attributes } = await this.#change(operation, 'POST', 'user-registration-tokens', body, CREATED);
    this.#invitations.set(id, { token: attributes.token, revoked: false, ...body });
  }

  /** Changes the limit of an invitation, revokes or restores it. An invitation for an address is for one account. */
  async #alter(id) {
    const invitation = this.#invitations.get(id);
    const path = `user-registration-tokens/${id}`;
    if (invitation.revoked) {
      await this.#change('unrevokeUserRegistrationToken', 'POST', `${path}/unrevoke`);
      this.#invitations.set(id, { ...invitation, revoked: false });
    } else if (randomInt(2) === 0) {
      await this.#change('revokeUserRegistrationToken', 'POST', `${path}/revoke`);
      this.#invitations.set(id, { ...invitation, revoked: true });
    } else {
      const body = { usage_limit: invitation.email === undefined ? 10 + randomInt(90) : 1 };
      await this.#change('updateUserRegistrationToken', 'PUT', path, body);
      this.#invitations.set(id, { ...invitation, ...body });
    }
  }

  async #readLists() {
    await this.#get(`users?filter[group]=${encodeURIComponent(TEAMS[randomInt(TEAMS.length)])}&page[first]=50`);
    await this.#get('user-registration-tokens?filter[valid]=true&page[last]=10');
    await this.#get('oauth2-clients?page[first]=100');
  }

  async #useManaged(client = this.#managed[randomInt(Math.max(1, this.#managed.length))]) {
    if (client === undefined) return;
    await this.#tokenOf(client.id, client.secret, 'openid');
  }

  async #repeat(step) {
    while (this.#isOn) {
      try {
        await step();
      } catch (error) {
        this.faults.push(String(error?.stack ?? error));
      }
      await pause(PAUSE_MS);
    }
  }

  #requireSame(what, found, expected) {
    const [read, written] = [found, expected].map((value) => JSON.stringify(value));
    if (read !== written) this.faults.push(`${what}: ${read} instead of ${written}`);
  }

  async #tokenOf(id, secret, scope) {
    const { access_token } = await this.#send('oauth2/token', {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` },
      body: new URLSearchParams({ grant_type: 'client_credentials', ...(scope !== 'openid' && { scope }) }),
    });
    return access_token;
  }

  async #change(operation, method, path, body, status = 200) {
    const headers = { 'content-type': 'application/json' };
    const sent = { method, ...(body !== undefined && { headers, body: JSON.stringify(body) }) };
    const { data, meta } = await this.#send(`api/admin/v1/${path}`, sent, status);
    this.#changes.set(operation, (this.#changes.get(operation) ?? 0) + 1);
    return { ...data, meta };
  }

  async #get(path) {
    const { data } = await this.#send(`api/admin/v1/${path}`, { method: 'GET' });
    return data;
  }

  async #send(path, { headers = {}, ...request }, status = 200) {
    const startedAt = performance.now();
    const response = await fetch(this.#bases[randomInt(this.#bases.length)] + path, {
      ...request,
      headers: { authorization: `Bearer ${this.#token}`, ...headers },
      signal: AbortSignal.timeout(REQUEST_MS),
    });
    const text = await response.text();
    this.slowestMs = Math.max(this.slowestMs, performance.now() - startedAt);
    if (response.status !== status) throw new Error(`${request.method} ${path}: ${response.status} ${text}`);
    this.acknowledged += 1;
    return JSON.parse(text);
  }

  /** Identifies the content of all events up to one of them, by default the newest. */
  async #eventsSoFar(last = 'ffffffff-ffff-ffff-ffff-ffffffffffff') {
    const [row] = await this.#query(
      `select count(*)::integer as count, max(id::text) as last, md5(string_agg(e::text, ',' order by id)) as digest
         from audit_events e where id <= $1::uuid`,
      [last],
    );
    return row;
  }

  /** Events of changes by administrators, by operation. */
  async #actions() {
    const rows = await this.#query(
      `select detail ->> 'operation' as operation, count(*)::integer as count
         from audit_events where kind = 'admin_action' group by 1`,
    );
    return Object.fromEntries(rows.map(({ operation, count }) => [operation, count]));
  }

  async #query(text, values = []) {
    const client = new pg.Client(this.#server);
    await client.connect();
    try {
      return (await client.query(text, values)).rows;
    } finally {
      await client.end();
    }
  }
}

function halves(items) {
  const middle = Math.ceil(items.length / 2);
  return [items.slice(0, middle), items.slice(middle)];
}
