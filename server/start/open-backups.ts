import { openTarget } from '#server/backup/open-target.ts'
import type { BackupTarget } from '#server/backup/target.ts'
import type { Config } from '#server/config.ts'

/** @param address a folder or s3://bucket/prefix @throws AppError `startup` without the settings of its store */
export function openBackups(address: string, config: Config): Promise<BackupTarget> {
  const region = config.BACKUP_S3_REGION ?? config.S3_REGION
  return openTarget(
    address,
    config.BACKUP_S3_ENDPOINT === undefined
      ? {
          endpoint: config.S3_ENDPOINT,
          region,
          accessKey: config.S3_ACCESS_KEY,
          secretKey: config.S3_SECRET_KEY,
        }
      : {
          endpoint: config.BACKUP_S3_ENDPOINT,
          region,
          accessKey: config.BACKUP_S3_ACCESS_KEY,
          secretKey: config.BACKUP_S3_SECRET_KEY,
        },
  )
}
