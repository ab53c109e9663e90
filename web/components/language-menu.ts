/** Lets Escape, and everything outside of it, close the language menu that the server rendered below the area. */
export function closeLanguageMenu(): void {
  const menu = document.querySelector<HTMLDetailsElement>('.languages details');
  if (menu === null) return;
  const close = ({ target }: Event) => {
    if (target instanceof Node && !menu.contains(target)) menu.open = false;
  };
  document.addEventListener('click', close);
  document.addEventListener('focusin', close);
  menu.addEventListener('keydown', ({ key }) => {
    if (key !== 'Escape' || !menu.open) return;
    menu.open = false;
    menu.querySelector('summary')?.focus();
  });
}
