// Enhancements of the pages. Every page works without them.

for (const button of document.querySelectorAll('.reveal')) {
  const input = document.getElementById(button.getAttribute('aria-controls'));
  const labels = [button.textContent, button.dataset.labelShown];
  const show = (isShown) => {
    input.type = isShown ? 'text' : 'password';
    button.textContent = labels[Number(isShown)];
  };
  button.hidden = false;
  button.addEventListener('click', () => show(input.type === 'password'));
  // Browsers remember the values of text fields, which must not include passwords.
  input.form.addEventListener('submit', () => show(false));
}

for (const preview of document.querySelectorAll('[data-identifier-of]')) {
  const input = document.getElementById(preview.dataset.identifierOf);
  const show = () => {
    const name = input.value.trim();
    preview.hidden = name === '';
    preview.querySelector('bdi').textContent = `@${name}:${preview.dataset.serverName}`;
  };
  input.addEventListener('input', show);
  show();
}

for (const menu of document.querySelectorAll('.languages details')) {
  const close = (event) => {
    if (!menu.contains(event.target)) menu.open = false;
  };
  document.addEventListener('click', close);
  document.addEventListener('focusin', close);
  menu.addEventListener('keydown', ({ key }) => {
    if (key !== 'Escape' || !menu.open) return;
    menu.open = false;
    menu.querySelector('summary').focus();
  });
}

for (const button of document.querySelectorAll('[data-fills]')) {
  const input = document.getElementById(button.dataset.fills);
  button.addEventListener('click', (event) => {
    event.preventDefault();
    input.value = button.value;
    input.dispatchEvent(new Event('input'));
    // The next thing to enter, usually the password, which pages never repeat.
    [...input.form.elements].find((element) => element.labels?.length > 0 && element.value === '')?.focus();
  });
}

const captchaScript = document.querySelector('script[data-captcha-script]');
if (captchaScript !== null) {
  const widget = document.querySelector('.captcha-widget');
  // The normal size is wider than the card on a small phone.
  if (widget.clientWidth < 304) widget.dataset.size = 'compact';
  captchaScript.addEventListener('error', () => {
    document.querySelector('[data-captcha-missing]').hidden = false;
  });
}

for (const form of document.querySelectorAll('form[data-submit-at-once]')) form.submit();

// A second press of the button would interrupt the response to the first one, which is sent only once.
const SECOND_PRESS_MS = 2000;
for (const form of document.querySelectorAll('form[data-submit-once]')) {
  let sentAt = Number.NEGATIVE_INFINITY;
  form.addEventListener('submit', (event) => {
    if (event.timeStamp - sentAt < SECOND_PRESS_MS) event.preventDefault();
    else sentAt = event.timeStamp;
  });
}
