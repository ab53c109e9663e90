import { Cable } from '../../test/support/cable.js';
import { freePort } from '../../test/support/free-port.js';
import { databaseSettings, Instances, startDatabase } from './instances.js';

const ADDRESS = '127.0.0.1';

/**
 * Two instances that reach their database by a network that can be disturbed.
 * @param work is given `{ cable, instances, load }`; the load runs already
 * @param change what becomes of the settings
 */
export async function behindCable(folder, work, change) {
  const database = await startDatabase(folder);
  const cable = new Cable(database);
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
