/** Child process of run.ts: asks one question, says its rows and ends, whatever is left open. */
import { questions } from './questions.ts';

const question = questions[process.argv[2] ?? ''];
if (!question) throw new Error(`no such benchmark: ${process.argv[2]}`);

const outcome = await question
  .load()
  .then(({ rows }) => rows())
  .then(
    (rows) => ({ rows }),
    (error: unknown) => {
      console.error(error);
      return { rows: [], failed: error instanceof Error ? error.message : String(error) };
    },
  );
process.send?.(outcome, () => process.exit(0));
