/** Brings the database to the newest migration and ends: `parley migrate`. */
import { openDatabase } from './adapters/open.ts';
import { readConfig } from './config.ts';
import { createLog } from './core/log.ts';
import { explainStartFailure } from './start-failure.ts';

let isEmbedded = true;

async function main(): Promise<void> {
  const config = readConfig(process.env);
  isEmbedded = config.databaseUrl === null;
  const db = await openDatabase(config, createLog(config.logLevel));
  await db.close();
  console.log(`The database ${isEmbedded ? `in ${config.dataDir}` : 'in DATABASE_URL'} is up to date.`);
}

main().catch((error: unknown) => {
  console.error(explainStartFailure(error, isEmbedded));
  process.exit(1);
});
