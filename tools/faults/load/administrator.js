const API = 'api/admin/v1/';

/** A program that manages accounts. */
export class Administrator {
  /** Promise of an access token. */
  #token;

  /** Requests a new token the next time one is needed. */
  forgetToken() {
    this.#token = undefined;
  }

  /** While an account is locked, nothing that belongs to it works. After unlocking, all of it works. */
  async lockAndUnlock({ requests, journal }, person) {
    const { data } = await this.#send(requests, 'GET', `users/by-username/${person.username}`);
    const all = [person.passwordFact, ...person.tokenFacts, ...person.browsers.map(({ fact }) => fact)];
    // After a refresh without a response, it is unknown whether the former tokens work.
    const facts = all.filter((fact) => journal.entry(fact) !== undefined);
    // Unless both requests get a response, the state of the account is unknown.
    person.isOver = true;
    for (const [action, isTrue] of [
      ['lock', false],
      ['unlock', true],
    ]) {
      const after = facts.map((fact) => [fact, isTrue]);
      const send = () => this.#send(requests, 'POST', `users/${data.id}/${action}`);
      await journal.change(`${action} of ${person.username}`, after, send);
    }
    person.isOver = false;
  }

  /**
   * @param list path of a list, with its query
   * @throws Unanswered
   */
  async read({ requests }, list) {
    await this.#send(requests, 'GET', list);
  }

  async #send(requests, method, path) {
    this.#token ??= requestToken(requests).catch((error) => {
      this.#token = undefined;
      throw error;
    });
    const headers = { authorization: `Bearer ${await this.#token}` };
    return (await requests.send(method, API + path, undefined, headers)).json;
  }
}

async function requestToken(requests) {
  const fields = { grant_type: 'client_credentials', scope: 'urn:mas:admin' };
  return (await requests.client('oauth2/token', fields)).access_token;
}
