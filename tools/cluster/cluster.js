/**
 * Three PostgreSQL servers on loopback, managed by Patroni with synchronous replication. etcd stores the current
 * leader.
 */
import { chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { freePort } from '../../test/support/free-port.js';
import { postgresAccount } from '../../test/support/start-postgres.js';
import { endTree, killTree, startProcess, until } from './processes.js';

const NODES = ['one', 'two', 'three'];
const PASSWORD = 'cluster-password';
/** Seconds without the leader until a failover. The default is 30; the test waits less. */
const LEASE_SECONDS = 8;
/** Maximum time for a server to join, which may need a base backup or a rewind. */
const JOIN_SECONDS = 90;

export class Cluster {
  /** `{ name, port, api, data, process }` of each server. */
  nodes = [];
  #folder;
  #programs;
  #account = postgresAccount();
  #etcd;

  static async start(folder, programs) {
    const cluster = new Cluster();
    cluster.#folder = folder;
    cluster.#programs = programs;
    await cluster.#startEtcd();
    for (const name of NODES) {
      cluster.nodes.push({ name, port: await freePort(), api: await freePort(), data: join(folder, name, 'data') });
    }
    for (const node of cluster.nodes) cluster.#startNode(node);
    await until(() => cluster.leader(), 'a leader', JOIN_SECONDS);
    await cluster.untilWhole();
    await cluster.sql(`create role latchkey login password '${PASSWORD}'`);
    await cluster.sql('create database latchkey owner latchkey');
    return cluster;
  }

  /**
   * Returns the database URI with all servers.
   * @param ports default: the servers' ports
   */
  uri(ports = this.nodes.map(({ port }) => port)) {
    const hosts = ports.map((port) => `127.0.0.1:${port}`).join(',');
    return `postgres://latchkey:${PASSWORD}@${hosts}/latchkey?target_session_attrs=read-write&sslmode=disable`;
  }

  /** Returns the server that Patroni reports as the primary, if there is one. */
  async leader() {
    for (const node of this.nodes) if (await isOk(node, 'primary')) return node;
    return undefined;
  }

  /** Waits until every server runs and a standby with all acknowledged data is ready for a failover. */
  async untilWhole() {
    await until(
      async () => {
        const states = await Promise.all(
          this.nodes.map(async (node) => ((await isOk(node, 'primary')) || (await isOk(node, 'replica')) ? 1 : 0)),
        );
        const synchronous = await Promise.all(this.nodes.map((node) => isOk(node, 'synchronous')));
        return !states.includes(0) && synchronous.includes(true);
      },
      'all servers and a synchronous standby',
      JOIN_SECONDS,
    );
  }

  /** Kills a server like a machine failure: PostgreSQL and Patroni at the same time. */
  async kill(node) {
    const postmaster = Number(readFileSync(join(node.data, 'postmaster.pid'), 'utf8').split('\n', 1)[0]);
    killTree(postmaster);
    await endTree(node.process);
  }

  restart(node) {
    this.#startNode(node);
  }

  /** Runs a statement as the superuser of the primary. */
  async sql(text) {
    const node = await until(() => this.leader(), 'a leader');
    const client = new pg.Client({ ...{ host: '127.0.0.1', port: node.port }, ...SUPERUSER, database: 'postgres' });
    await client.connect();
    try {
      return (await client.query(text)).rows;
    } finally {
      await client.end();
    }
  }

  /** Starts a program under the servers' account, with a separate folder. */
  startNext(name, command, files = {}) {
    const folder = this.#ownFolder(name);
    for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
    return startProcess(command(folder), {
      ...{ account: this.#account, environment: this.#programs.environment, folder },
      log: join(folder, 'log'),
    });
  }

  async stop() {
    for (const node of this.nodes) {
      // A server that is already dead has left its file.
      await this.kill(node).catch(() => undefined);
    }
    await endTree(this.#etcd);
  }

  async #startEtcd() {
    const [client, peer] = [await freePort(), await freePort()].map((port) => `http://127.0.0.1:${port}`);
    this.endpoint = client.slice('http://'.length);
    this.#etcd = this.startNext('etcd', (folder) => [
      ...[this.#programs.etcd, '--data-dir', join(folder, 'data'), '--name', 'etcd', '--unsafe-no-fsync'],
      ...['--listen-client-urls', client, '--advertise-client-urls', client],
      ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer, '--initial-cluster', `etcd=${peer}`],
    ]);
    const isUp = () => fetch(`${client}/health`).then(...[true, false].map((is) => () => is));
    await until(isUp, 'etcd');
  }

  #startNode(node) {
    const settings = JSON.stringify(this.#settingsOf(node));
    node.process = this.startNext(node.name, (folder) => [...this.#programs.patroni, join(folder, 'patroni.json')], {
      'patroni.json': settings,
    });
  }

  #settingsOf({ name, port, api, data }) {
    return {
      ...{ scope: 'latchkey', name, etcd3: { host: this.endpoint } },
      restapi: { listen: `127.0.0.1:${api}`, connect_address: `127.0.0.1:${api}` },
      bootstrap: {
        dcs: {
          ...{ ttl: LEASE_SECONDS, loop_wait: 1, retry_timeout: 3, synchronous_mode: true },
          maximum_lag_on_failover: 1_048_576,
          postgresql: { use_pg_rewind: true, parameters: { max_connections: 100, wal_keep_size: '256MB' } },
        },
        initdb: [{ encoding: 'UTF8' }, { locale: 'C' }, 'data-checksums'],
      },
      postgresql: {
        ...{ listen: `127.0.0.1:${port}`, connect_address: `127.0.0.1:${port}`, data_dir: data },
        bin_dir: this.#programs.bin,
        pgpass: join(this.#folder, name, 'pgpass'),
        authentication: { superuser: { ...SUPERUSER, username: 'postgres' }, replication: REPLICATION },
        pg_hba: [
          'local all all trust',
          'host all all 127.0.0.1/32 scram-sha-256',
          'host replication replicator 127.0.0.1/32 scram-sha-256',
        ],
        // All servers run on one machine that keeps its power: only processes are killed.
        parameters: { unix_socket_directories: join(this.#folder, name), fsync: 'off', shared_buffers: '32MB' },
      },
    };
  }

  #ownFolder(name) {
    const folder = join(this.#folder, name);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (this.#account !== undefined) chownSync(folder, this.#account.uid, this.#account.gid);
    return folder;
  }
}

const SUPERUSER = { user: 'postgres', password: PASSWORD };
const REPLICATION = { username: 'replicator', password: PASSWORD };

async function isOk(node, role) {
  try {
    const answer = await fetch(`http://127.0.0.1:${node.api}/${role}`, { signal: AbortSignal.timeout(2_000) });
    await answer.body?.cancel();
    return answer.ok;
  } catch {
    return false;
  }
}
