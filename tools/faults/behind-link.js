import { freePort } from '../../test/support/free-port.js';
import { NetworkLink } from '../../test/support/network-link.js';
import { databaseSettings, Instances, startDatabase } from './instances.js';

const ADDRESS = '127.0.0.1';

/**
 * Runs two instances whose network connection to the database can be disturbed.
 * @param work receives `{ cable, instances, load }`; the load is already running
 * @param change modifies the settings
 */
export async function behindLink(folder, work, change) {
  const database = await startDatabase(folder);
  const cable = new NetworkLink(database);
  const instances = new Instances(folder);
  let load;
  try {
    const port = await freePort();
    await cable.listen(port, ADDRESS);
    const { username, database: name } = databaseSettings(database);
    const settings = { host: ADDRESS, port, username, database: name, ssl_mode: 'disable' };
    for (let count = 0; count < 2; count += 1) await instances.add(settings, { change });
    load = await instances.load();
    load.start();
    await load.untilAtWork();
    await work({ cable, instances, load });
  } finally {
    cable.mend();
    cable.slowDown(0);
    cable.lose(0);
    await load?.stop();
    await instances.stop();
    cable.close();
    await database.remove();
  }
}
