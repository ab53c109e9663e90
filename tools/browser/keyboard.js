const MAX_STOPS = 60;

/**
 * Presses Tab until the element has the focus, as a person without a mouse does.
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

/** Types into an input in place of what is there. */
export async function typeInto(page, locator, text) {
  await tabTo(page, locator);
  await page.keyboard.press('Control+A');
  await page.keyboard.type(text);
}

/** Presses a button or a link, and waits for the page that it leads to. */
export async function press(page, locator) {
  await tabTo(page, locator);
  await pressEnter(page);
}

/** Enter in an input sends its form. */
export async function pressEnter(page) {
  const isLoaded = page.waitForEvent('load');
  await page.keyboard.press('Enter');
  await isLoaded;
}
