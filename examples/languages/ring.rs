// A ring in Rust: each PE adds its number to a counter of its right neighbour, and puts its number there.
use std::mem::{size_of, size_of_val};
use std::os::raw::{c_int, c_long, c_void};
use std::ptr::addr_of;
use std::sync::atomic::{AtomicI64, Ordering};

#[link(name = "shmemx")]
extern "C" {
    fn shmem_init();
    fn shmem_finalize();
    fn shmem_barrier_all();
    fn shmem_my_pe() -> c_int;
    fn shmem_n_pes() -> c_int;
    fn shmem_malloc(bytes: usize) -> *mut c_void;
    fn shmem_free(block: *mut c_void);
    fn shmem_putmem(dest: *mut c_void, source: *const c_void, bytes: usize, pe: c_int);
    fn shmem_long_atomic_add(dest: *mut c_long, value: c_long, pe: c_int);
}

static COUNTER: AtomicI64 = AtomicI64::new(0); // statics are symmetric; other PEs change it, so it is atomic

fn main() {
    unsafe {
        shmem_init();
        let (me, pes) = (shmem_my_pe(), shmem_n_pes());
        let (right, left) = ((me + 1) % pes, (me + pes - 1) % pes);
        let numbers = shmem_malloc(4 * size_of::<f64>()) as *mut f64;
        let mine = [f64::from(me); 4];
        shmem_long_atomic_add(addr_of!(COUNTER) as *mut c_long, c_long::from(me), right);
        shmem_putmem(numbers.cast(), mine.as_ptr().cast(), size_of_val(&mine), right);
        shmem_barrier_all();
        let got = COUNTER.load(Ordering::Relaxed);
        assert_eq!(got, i64::from(left));
        assert!(std::slice::from_raw_parts(numbers, 4).iter().all(|number| *number == f64::from(left)));
        println!("PE {me} of {pes} got {got}");
        shmem_free(numbers.cast());
        shmem_finalize();
    }
}
