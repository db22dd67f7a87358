//! What a thousand frames allocate, in lines like those of `time --output-format bencher`. Apart from it, so that counting
//! takes no time of what is timed.

mod work;

/// Until buffers have the size that they keep.
const WARM_UP: usize = 10;

fn main() {
    for mut work in work::all() {
        for _ in 0..WARM_UP {
            (work.run)();
        }
        let counted = allocation_counter::measure(|| (work.run)());
        println!("test {} ... allocations: {}", work.name, counted.count_total);
    }
}
