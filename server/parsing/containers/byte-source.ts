/** Bytes that are looked at in places, without holding all of them. */
export interface ByteSource {
  readonly size: number
  /** At most `length` bytes from `start`: fewer where the source ends. */
  read(start: number, length: number): Promise<Uint8Array>
}

export const createByteSource = (bytes: Uint8Array): ByteSource => ({
  size: bytes.byteLength,
  read: async (start, length) => bytes.subarray(start, start + length),
})
