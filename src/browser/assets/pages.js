// Enhancements of the pages: each page works without them.

for (const button of document.querySelectorAll('.reveal')) {
  const input = document.getElementById(button.getAttribute('aria-controls'));
  const labels = [button.textContent, button.dataset.labelShown];
  const show = (isShown) => {
    input.type = isShown ? 'text' : 'password';
    button.textContent = labels[Number(isShown)];
  };
  button.hidden = false;
  button.addEventListener('click', () => show(input.type === 'password'));
  // Browsers keep what was typed into a text field; a password must not stay there.
  input.form.addEventListener('submit', () => show(false));
}

for (const form of document.querySelectorAll('form[data-submit-at-once]')) form.submit();
