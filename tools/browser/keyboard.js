const MAX_STOPS = 60;

/**
 * Presses Tab until the element has the focus, like a keyboard user.
 * @param atStop runs after each press
 */
export async function tabTo(page, locator, atStop = undefined) {
  const wanted = await locator.elementHandle();
  for (let stops = 0; stops < MAX_STOPS; stops += 1) {
    if (await wanted.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press('Tab');
    await atStop?.();
  }
  throw new Error(`the keyboard does not reach ${locator}`);
}

/** Replaces the value of an input by typing. */
export async function typeInto(page, locator, text) {
  await tabTo(page, locator);
  await page.keyboard.press('Control+A');
  await page.keyboard.type(text);
}

/** Activates a button or a link, and waits for the next page. */
export async function press(page, locator) {
  await tabTo(page, locator);
  await pressEnter(page);
}

/** Presses Enter in an input, which submits its form. */
export async function pressEnter(page) {
  const isLoaded = page.waitForEvent('load');
  await page.keyboard.press('Enter');
  await isLoaded;
}
