/** Brings the database to the newest migration and ends: `parley migrate`. */
import { openDatabase } from './adapters/open.ts';
import { ConfigError, readConfig } from './config.ts';
import { explainStartFailure } from './start-failure.ts';

async function main(): Promise<void> {
  const config = readConfig(process.env);
  const db = await openDatabase(config);
  await db.close();
  console.log(
    `The database ${config.databaseUrl === null ? `in ${config.dataDir}` : 'in DATABASE_URL'} is up to date.`,
  );
}

main().catch((error: unknown) => {
  console.error(error instanceof ConfigError ? error.problems.join('\n') : explainStartFailure(error));
  process.exit(1);
});
