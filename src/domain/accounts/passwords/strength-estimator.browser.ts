/**
 * Entry of a web worker, published with the assets: runs the server's estimate for the strength meter of a form. The
 * password does not leave the browser.
 */
import { estimateStrength, type Strength } from './estimate-strength.ts';
import { knownWords } from './password-rules.ts';

/** The message from `strength.js`. */
interface EstimateRequest {
  readonly password: string;
  readonly username: string;
  /** Empty if the form has no such field. */
  readonly email: string;
  readonly serviceName: string;
}

/** The parts of a dedicated worker's global scope that are used here. */
declare const self: {
  onmessage: (event: { readonly data: EstimateRequest }) => void;
  postMessage(response: Strength): void;
};

self.onmessage = ({ data: { password, username, email, serviceName } }) => {
  self.postMessage(
    estimateStrength(password, knownWords({ username, emails: email === '' ? [] : [email], serviceName })),
  );
};
