// The strength meter of a new password. It runs the server's estimator in a worker. The password stays in the browser.

import { StrengthChecker } from '../components/strength-checker.ts';

const { estimator } = document.currentScript.dataset;
// In data saver mode, the rules are shown only as text.
if (navigator.connection?.saveData !== true) {
  for (const meter of document.querySelectorAll('.strength')) run(meter);
}

function run(meter) {
  const { serviceName, minimumScore, minimumLength, tooShort, common } = meter.dataset;
  const words = JSON.parse(meter.dataset.words);
  const bar = meter.querySelector('[role=meter]');
  const sentence = meter.querySelector('[aria-live]');
  const input = document.getElementById(meter.dataset.password);
  const username = document.getElementById(meter.dataset.username);
  const email = document.getElementById('email');
  let worker;

  const show = (verdict) => {
    meter.hidden = verdict === undefined;
    if (verdict === undefined) return;
    const { kind, score, level } = verdict;
    const text = kind === 'too-short' ? tooShort : kind === 'common' ? common : words[score];
    bar.setAttribute('aria-valuenow', String(score));
    bar.setAttribute('aria-valuetext', text);
    bar.dataset.level = level;
    // Setting the same text would make screen readers repeat it.
    if (sentence.textContent !== text) sentence.textContent = text;
  };

  const judge = new StrengthChecker({
    minimumScore: Number(minimumScore),
    minimumLength: Number(minimumLength),
    estimate: (typed) => worker.postMessage({ ...typed, serviceName }),
    show,
  });

  const type = () => {
    if (worker === undefined) {
      worker = new Worker(estimator);
      worker.addEventListener('error', () => meter.remove());
      worker.addEventListener('message', ({ data }) => judge.answer(data));
    }
    judge.type({ password: input.value, username: username.value, email: email?.value ?? '' });
  };

  for (const typed of [input, username, email]) typed?.addEventListener('input', type);
}
