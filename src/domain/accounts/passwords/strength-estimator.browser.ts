/**
 * Entry of a web worker, published among the assets: the estimate of the server for the strength meter of a form. The password
 * does not leave the browser.
 */
import { estimateStrength, type Strength } from './estimate-strength.ts';
import { knownWords } from './password-rules.ts';

/** What `strength.js` sends. */
interface EstimateRequest {
  readonly password: string;
  readonly username: string;
  /** Empty where the form has none. */
  readonly email: string;
  readonly serviceName: string;
}

/** The global scope of a dedicated worker, as far as it is used here. */
declare const self: {
  onmessage: (event: { readonly data: EstimateRequest }) => void;
  postMessage(answer: Strength): void;
};

self.onmessage = ({ data: { password, username, email, serviceName } }) => {
  self.postMessage(
    estimateStrength(password, knownWords({ username, emails: email === '' ? [] : [email], serviceName })),
  );
};
