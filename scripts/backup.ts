/** `npm run -s backup -- <folder or s3://bucket/prefix>`: prints one JSON line on standard output, progress on standard error. */
import { runBackup } from '#server/start/backup-commands.ts'
import { runCommand } from './run-command.ts'

await runCommand('backup', 'a folder or s3://bucket/prefix', runBackup)
