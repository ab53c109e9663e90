/** The standing load of security 5.2: simulated users and clients, and a journal of the responses. */
import { randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { PASSWORD, USERNAME } from '../cluster/load.js';
import { Administrator } from './load/administrator.js';
import { passwordWorks, tokenWorks } from './load/facts.js';
import { Journal } from './load/journal.js';
import { Moment } from './load/moment.js';
import { Requests, Unanswered } from './load/requests.js';
import {
  refresh,
  refreshSession,
  revoke,
  signIn,
  signInOnDevice,
  signInToChat,
  signOut,
  signOutOfChat,
  useClientToken,
} from './load/sign-ins.js';
import { changePassword, recoverPassword, register } from './load/users.js';

/** Minimum pause between two steps of a user. */
const MIN_PAUSE_MS = 50;
/** Maximum number of sessions of each kind per user, to keep the load constant. */
const MAX_SESSIONS = 4;
/** Number of steps before a user is replaced by a new one. */
const MAX_STEPS = 60;
/** Time until a started service responds to every request. */
const MAX_START_MS = 30_000;
/** Time without a failure that counts as undisturbed. */
const QUIET_MS = 1_000;
/** Number of secrets to search for in the database. */
const MAX_SECRETS = 20;
/** Shorter values would match by chance. */
const MIN_SECRET_LENGTH = 16;

export class StandingLoad {
  #moment = new Moment();
  #requests;
  #journal = new Journal();
  #mailboxes;
  #users;
  #pauseMs;
  #administrator = new Administrator();
  #check;
  #people = [];
  #eventsMayBeOver = false;
  #isOn = false;
  #working = [];
  /** Number of completed runs of each flow. */
  flows = {};

  /**
   * @param users number of concurrent users
   * @param pauseMs maximum pause between two steps of a user
   * @param check resolves with violations in the database and the logs. It receives `secrets`, a sample of the secrets
   * seen, and `eventsMayBeOver`: clocks went ahead for longer than the retention of events
   */
  constructor({ bases, publicBase, mailboxes, users, pauseMs, check }) {
    this.#requests = new Requests({ bases, publicBase, moment: this.#moment });
    this.#mailboxes = mailboxes;
    this.#users = users;
    this.#pauseMs = pauseMs;
    this.#check = check;
  }

  /** Wrong responses, and errors other than 503. */
  get faults() {
    return this.#requests.faults;
  }

  /** Requests by outcome, and sign-ins. */
  get counts() {
    return this.#requests.counts;
  }

  /** Number of "unavailable" responses by kind of request. */
  get unavailable() {
    return this.#requests.unavailable;
  }

  /** Duration of the slowest request with a response. */
  get slowestMs() {
    return this.#requests.slowestMs;
  }

  /** The slowest request. */
  get slowest() {
    return this.#requests.slowest;
  }

  /** Requests sent to another instance after a refused connection. */
  get retries() {
    return this.#requests.retries;
  }

  /** Number of "expired" responses by kind of request, after clock changes. */
  get over() {
    return this.#requests.over;
  }

  /** Tokens issued and not revoked. */
  get live() {
    return new Set(this.#journal.facts('token', true).map(tokenOf));
  }

  /** Tokens with an acknowledged revocation. */
  get revoked() {
    return new Set(this.#journal.facts('token', false).map(tokenOf));
  }

  async prepare() {
    this.#journal.know(true, passwordWorks(USERNAME, PASSWORD));
    await this.#signInOnceReady();
  }

  /** On a busy machine, a process may reject pages for some seconds after its start. */
  async #signInOnceReady() {
    const deadline = performance.now() + MAX_START_MS;
    for (;;) {
      try {
        await this.signIn();
        break;
      } catch (error) {
        if (!(error instanceof Unanswered) || performance.now() > deadline) throw error;
        await pause(MIN_PAUSE_MS);
      }
    }
    this.#requests.forgetUnavailable();
  }

  /** @param more number of concurrent introspections to add */
  start(more = 2) {
    this.#isOn = true;
    this.#working = [
      ...Array.from({ length: this.#users }, () => this.#live()),
      ...Array.from({ length: more }, () => this.#repeat(() => this.#introspect())),
    ];
  }

  async stop() {
    this.#isOn = false;
    await Promise.all(this.#working.splice(0));
  }

  /** Waits until all users have an account. */
  async untilAtWork() {
    while ((this.flows.register ?? 0) < this.#users) await pause(MIN_PAUSE_MS);
  }

  /**
   * Waits for one second without failures.
   * @returns its time in milliseconds
   */
  async untilUndisturbed(withinMs) {
    const startedAt = performance.now();
    let [failed, quietSince] = [this.#failed, startedAt];
    while (performance.now() - quietSince < QUIET_MS) {
      await pause(MIN_PAUSE_MS);
      if (this.#failed === failed) continue;
      [failed, quietSince] = [this.#failed, performance.now()];
      if (quietSince - startedAt > withinMs) throw new Error(`requests fail ${withinMs / 1000} s later`);
    }
    return quietSince - startedAt;
  }

  /**
   * Retries until a sign-in succeeds.
   * @returns its time in milliseconds
   */
  async untilSignedIn(withinMs) {
    const startedAt = performance.now();
    let failure;
    while (performance.now() - startedAt < withinMs) {
      try {
        await this.signIn();
        const tookMs = performance.now() - startedAt;
        if (tookMs < withinMs) return tookMs;
      } catch (error) {
        failure = error;
        await pause(MIN_PAUSE_MS);
      }
    }
    throw new Error(`nobody could sign in within ${withinMs / 1000} s`, { cause: failure });
  }

  /**
   * Call right before the clocks of all machines are set. Tasks in progress may then find that something has expired.
   * @param isLong whether access tokens will have expired; those are forgotten, and so are events
   */
  beforeClocksAreSet({ isLong }) {
    this.#moment.pass({ isLong });
    if (!isLong) return;
    this.#eventsMayBeOver = true;
    this.#administrator.forgetToken();
    const sessions = this.#people.flatMap(({ sessions: own }) => own);
    const over = sessions.flatMap(({ accessToken }) => (accessToken === undefined ? [] : [tokenWorks(accessToken)]));
    for (const session of sessions) session.accessToken = undefined;
    // Client credentials tokens belong to no user.
    const lasting = new Set(this.#people.flatMap(({ tokenFacts }) => tokenFacts.map(({ key }) => key)));
    const others = this.#journal.facts('token', true).filter(({ key }) => !lasting.has(key));
    // Sessions whose end got no response belong to no user either.
    const open = this.#journal.openFacts.filter(({ endsByAge }) => endsByAge);
    this.#journal.drop(...over, ...others, ...open);
  }

  get #failed() {
    return this.counts.unavailable + this.counts.cut;
  }

  /** Signs in to a client, from the first page to the tokens. Throws if a step gets no response. */
  async signIn() {
    const person = { username: USERNAME, password: PASSWORD, sessions: [], keepBrowser: () => undefined };
    return await signIn(this.#parts(), person);
  }

  /**
   * Checks that all acknowledged changes are in effect, and that changes without a response are complete or absent.
   * @returns the number of facts compared
   */
  async compare() {
    const { compared, faults } = await this.#journal.compare(this.#requests);
    this.faults.push(...faults);
    let refreshed = 0;
    for (const session of this.#people.filter(({ isOver }) => !isOver).flatMap(({ sessions }) => sessions)) {
      if (!session.isRefreshing) continue;
      refreshed += 1;
      await refreshSession(this.#parts(), session);
    }
    this.faults.push(...(await this.#check({ secrets: this.#secrets(), eventsMayBeOver: this.#eventsMayBeOver })));
    return compared + refreshed;
  }

  /** Returns the newest secrets of users and clients. */
  #secrets() {
    const tokens = [...this.live, ...this.revoked].slice(-MAX_SECRETS);
    const people = this.#people.slice(-MAX_SECRETS);
    const ofPeople = people.flatMap(({ password, browsers }) => [
      password,
      ...browsers.flatMap(({ visitor }) => [...visitor.cookies.values()]),
    ]);
    return [...tokens, ...ofPeople].filter((secret) => secret.length >= MIN_SECRET_LENGTH);
  }

  #parts() {
    return {
      ...{ requests: this.#requests, journal: this.#journal, moment: this.#moment, mailboxes: this.#mailboxes },
      isOn: () => this.#isOn,
    };
  }

  /** Runs one user after another. */
  async #live() {
    await pause(randomInt(this.#pauseMs));
    let person;
    let steps = 0;
    await this.#repeat(async () => {
      if (person === undefined || person.isOver || steps === MAX_STEPS) {
        person = undefined;
        person = await register(this.#parts());
        this.#count('register');
        this.#people.push(person);
        steps = 0;
        return;
      }
      steps += 1;
      await this.#doSomething(person);
    });
  }

  async #doSomething(person) {
    const { browsers, sessions, chats } = person;
    const possible = [
      ...(sessions.length < MAX_SESSIONS ? [signIn] : []),
      ...(browsers.length > 0 && sessions.length < MAX_SESSIONS ? [signInOnDevice] : []),
      ...(chats.length < MAX_SESSIONS ? [signInToChat] : []),
      ...(browsers.length > 0 ? [changePassword, signOut] : []),
      // As often as all other steps together.
      ...(sessions.length > 0 ? [revoke, refresh, refresh, refresh, refresh, refresh, refresh, refresh] : []),
      ...(chats.length > 0 ? [signOutOfChat] : []),
      ...[useClientToken, recoverPassword, lockAndUnlock],
    ];
    const flow = possible[randomInt(possible.length)];
    try {
      if (flow === lockAndUnlock) await this.#administrator.lockAndUnlock(this.#parts(), person);
      else await flow(this.#parts(), person);
    } catch (error) {
      if (flow === signIn) this.counts.failedSignIns += 1;
      throw error;
    }
    if (flow === signIn) this.counts.signIns += 1;
    this.#count(flow.name);
  }

  #count(flow) {
    this.flows[flow] = (this.flows[flow] ?? 0) + 1;
  }

  async #introspect() {
    const facts = this.#journal.facts('token', randomInt(2) === 0).slice(-50);
    if (facts.length === 0) return;
    const fact = facts[randomInt(facts.length)];
    const entry = this.#journal.entry(fact);
    const works = await fact.ask(this.#requests);
    // It may have been revoked or refreshed since the request was sent.
    if (entry !== this.#journal.entry(fact) || works === entry.isTrue) return;
    this.faults.push(works ? 'a revoked token was accepted' : 'a live token was refused');
  }

  async #repeat(step) {
    while (this.#isOn) {
      try {
        await this.#moment.begin(step);
      } catch (error) {
        if (!(error instanceof Unanswered)) this.faults.push(String(error?.stack ?? error));
      }
      await pause(randomInt(MIN_PAUSE_MS, this.#pauseMs));
    }
  }
}

/** Placeholder for the administrator's flow in the list of possible steps. */
function lockAndUnlock() {}

function tokenOf({ key }) {
  return key.slice('token '.length);
}
