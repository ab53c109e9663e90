/** The standing load of the security specification (5.2): people and clients at work, and a journal of what they were told. */
import { randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { PASSWORD, USERNAME } from '../cluster/load.js';
import { Administrator } from './load/administrator.js';
import { passwordWorks, tokenWorks } from './load/facts.js';
import { Journal } from './load/journal.js';
import { Moment } from './load/moment.js';
import { changePassword, recoverPassword, register } from './load/people.js';
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

/** Between two things that somebody does. */
const MIN_PAUSE_MS = 50;
/** Sessions of each kind that a person has at most, so that the work stays the same. */
const MAX_SESSIONS = 4;
/** After so many things somebody else comes. */
const MAX_STEPS = 60;
/** After its start a service answers every request within that time. */
const MAX_START_MS = 30_000;
/** Without a failure all is well. */
const QUIET_MS = 1_000;
/** To look for in the database. */
const MAX_SECRETS = 20;
/** Shorter values would be found by chance. */
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
  /** How often each flow went through. */
  flows = {};

  /**
   * @param users how many are at work at once. @param pauseMs between two things that one of them does, at most
   * @param check resolves with what must never be in the database and the logs, given `secrets`, some of those that were
   *   seen, and `eventsMayBeOver`: clocks went ahead for longer than events are kept
   */
  constructor({ bases, publicBase, mailboxes, users, pauseMs, check }) {
    this.#requests = new Requests({ bases, publicBase, moment: this.#moment });
    this.#mailboxes = mailboxes;
    this.#users = users;
    this.#pauseMs = pauseMs;
    this.#check = check;
  }

  /** What must never be: a wrong answer, or an error other than 503. */
  get faults() {
    return this.#requests.faults;
  }

  /** Requests by what became of them, and sign-ins. */
  get counts() {
    return this.#requests.counts;
  }

  /** How often each kind of request was answered that the service is not available. */
  get unavailable() {
    return this.#requests.unavailable;
  }

  /** The longest that a request with an answer took. */
  get slowestMs() {
    return this.#requests.slowestMs;
  }

  /** What that was. */
  get slowest() {
    return this.#requests.slowest;
  }

  /** Requests that were sent to another instance, since one refused the connection. */
  get retries() {
    return this.#requests.retries;
  }

  /** How often each kind of request was told that what it goes on with is over, since clocks were set. */
  get over() {
    return this.#requests.over;
  }

  /** Tokens that were issued and not revoked. */
  get live() {
    return new Set(this.#journal.facts('token', true).map(tokenOf));
  }

  /** Tokens whose end was acknowledged. */
  get revoked() {
    return new Set(this.#journal.facts('token', false).map(tokenOf));
  }

  async prepare() {
    this.#journal.know(true, passwordWorks(USERNAME, PASSWORD));
    await this.#signInOnceReady();
  }

  /** A process that has just started on a busy machine may refuse pages for some seconds. */
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

  /** @param more introspections at the same time */
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

  /** Waits until everybody has an account. */
  async untilAtWork() {
    while ((this.flows.register ?? 0) < this.#users) await pause(MIN_PAUSE_MS);
  }

  /** Waits until everybody is answered again: for a second nobody was refused. @returns milliseconds until then */
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

  /** Tries until somebody has signed in. @returns milliseconds until then */
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
   * To be called right before the clocks of all machines are set: whoever is in the middle of something may be told that it is
   * over. @param isLong whether access tokens are over by then, which are forgotten, and so are events
   */
  beforeClocksAreSet({ isLong }) {
    this.#moment.pass({ isLong });
    if (!isLong) return;
    this.#eventsMayBeOver = true;
    this.#administrator.forgetToken();
    const sessions = this.#people.flatMap(({ sessions: own }) => own);
    const over = sessions.flatMap(({ accessToken }) => (accessToken === undefined ? [] : [tokenWorks(accessToken)]));
    for (const session of sessions) session.accessToken = undefined;
    // Those of clients themselves are nobody's.
    const lasting = new Set(this.#people.flatMap(({ tokenFacts }) => tokenFacts.map(({ key }) => key)));
    const others = this.#journal.facts('token', true).filter(({ key }) => !lasting.has(key));
    // Sessions whose end was not answered are not anybody's either.
    const open = this.#journal.openFacts.filter(({ endsByAge }) => endsByAge);
    this.#journal.drop(...over, ...others, ...open);
  }

  get #failed() {
    return this.counts.unavailable + this.counts.cut;
  }

  /** A person signs in at an application, from the first page to the tokens. Throws when a step is not answered. */
  async signIn() {
    const person = { username: USERNAME, password: PASSWORD, sessions: [], keepBrowser: () => undefined };
    return await signIn(this.#parts(), person);
  }

  /**
   * Everything that was acknowledged has to be so, and what was not answered wholly so or not at all.
   * @returns how many facts were compared
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

  /** The newest of those that people and clients hold. */
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

  /** One person after another. */
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
      // As often as all others together.
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
    // It may have been revoked or refreshed in the meantime.
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

/** Stands for the administrator's flow in the list of what may come next. */
function lockAndUnlock() {}

function tokenOf({ key }) {
  return key.slice('token '.length);
}
