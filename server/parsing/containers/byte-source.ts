export interface ByteSource {
  readonly size: number
  /** Returns fewer than `length` bytes at the end of the source. */
  read(start: number, length: number): Promise<Uint8Array>
}

export const createByteSource = (bytes: Uint8Array): ByteSource => ({
  size: bytes.byteLength,
  read: async (start, length) => bytes.subarray(start, start + length),
})
