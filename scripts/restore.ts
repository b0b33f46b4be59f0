/** `npm run -s restore -- <backup>`: prints one JSON line on standard output, progress on standard error. */
import { runRestore } from '#server/start/backup-commands.ts'
import { runCommand } from './run-command.ts'

await runCommand(
  'restore',
  'a backup, as the command backup printed it, or the place of several, of which it takes the newest',
  runRestore,
)
