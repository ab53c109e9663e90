// The meter of a new password. The estimate is the server's, made in a worker; the password stays in the browser.

const { estimator } = document.currentScript.dataset;
// Who saves data has the rules in words.
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
  let worker;
  // What the worker estimates, and whether something else was typed since.
  let asked;
  let isOutdated = false;

  const show = (score, text, isAccepted) => {
    bar.setAttribute('aria-valuenow', String(score));
    bar.setAttribute('aria-valuetext', text);
    bar.dataset.level = isAccepted ? 'good' : score < 2 ? 'weak' : 'fair';
    // The same text set again would be read out again.
    if (sentence.textContent !== text) sentence.textContent = text;
  };

  const start = () => {
    worker = new Worker(estimator);
    worker.addEventListener('error', () => meter.remove());
    worker.addEventListener('message', ({ data: { score, isCommon } }) => {
      const isCurrent = asked === input.value && !isOutdated;
      asked = undefined;
      if (!isCurrent) judge();
      else if (isCommon) show(0, common, false);
      else show(score, words[score], score >= Number(minimumScore));
    });
  };

  const judge = () => {
    const password = input.value;
    meter.hidden = password === '';
    if (password === '') return;
    if (worker === undefined) start();
    if ([...password].length < Number(minimumLength)) {
      show(0, tooShort, false);
      return;
    }
    isOutdated = asked !== undefined;
    if (isOutdated) return;
    asked = password;
    worker.postMessage({ password, username: username.value, serviceName });
  };

  input.addEventListener('input', judge);
  username.addEventListener('input', judge);
}
